import { z } from "zod";
import type { Atom } from "../unit.ts";

/** A list, or one text of words: `"a b"` is two packages, as the published lists write it. */
const words = z.preprocess(
  (value) => (typeof value === "string" ? value.split(/[\s,]+/).filter(Boolean) : value),
  z.array(z.string().trim().min(1)),
);
const some = words.refine((list) => list.length > 0, "must name something");
const plain = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const flags = z.preprocess((value) => value ?? [], words);

/** The arguments of each of the twelve atoms; names that the published lists use beside the documented ones included. */
const ATOMS = {
  pip_install: z
    .object({
      name: z.string().optional(),
      package: z.string().optional(),
      packages: words.optional(),
      spec: plain.optional(),
      version: plain.optional(),
      flags,
    })
    .refine(named, "must have name, package or packages"),
  pip_pin: z
    .object({
      name: z.string().optional(),
      package: z.string().optional(),
      spec: plain.optional(),
      version: plain.optional(),
    })
    .refine(named, "must have name")
    .refine((args) => (args.spec ?? args.version) !== undefined, "must have spec"),
  apt_install: z
    .object({ packages: some.optional(), package: z.string().optional(), name: z.string().optional() })
    .refine(named, "must have packages"),
  conda_install: z
    .object({
      packages: some.optional(),
      package: z.string().optional(),
      name: z.string().optional(),
      channel: z.string().optional(),
    })
    .refine(named, "must have packages"),
  npm_install: z.object({ packages: words.optional() }),
  shell: z
    .object({ cmd: z.string().optional(), command: z.string().optional() })
    .refine((args) => Boolean((args.cmd ?? args.command)?.trim()), "must have cmd"),
  adjust_command: z
    .object({ cmd: z.string().optional(), modified_command: z.string().optional() })
    .refine(
      (args) => Boolean((args.modified_command ?? args.cmd)?.trim()),
      "must have cmd or modified_command",
    ),
  set_env: z
    .object({
      key: z.string().optional(),
      var: z.string().optional(),
      name: z.string().optional(),
      value: plain,
    })
    .refine(
      ({ key, var: variable, name }) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(key ?? variable ?? name ?? ""),
      "must have key, a variable's name",
    ),
  set_umask: z.object({ value: plain.refine((value) => /^0?[0-7]{3}$/.test(value), "must be octal") }),
  set_pytest_flag: z.object({
    name: z.string().regex(/^-{1,2}[A-Za-z][A-Za-z0-9-]*$/, "must be a flag such as --import-mode"),
    value: plain.optional(),
  }),
  set_django_setting: z.object({
    key: z.string().regex(/^[A-Z_][A-Z0-9_]*$/, "must be a setting's name"),
    value: z.unknown().refine((value) => value !== undefined, "must have value"),
  }),
  or_upgrade_pkg: z
    .object({
      name: z.string().optional(),
      min_version: plain.optional(),
      package_manager: z.string().optional(),
      package_name: z.string().optional(),
    })
    .refine(({ name, package_name }) => Boolean(name ?? package_name), "must have name or package_name"),
} as const;

type AtomName = keyof typeof ATOMS;

/** An atom with checked arguments; `name` tells which. */
export type ParsedAtom = { [N in AtomName]: { name: N; args: z.infer<(typeof ATOMS)[N]> } }[AtomName];

export const ATOM_NAMES = Object.keys(ATOMS) as AtomName[];

export function isKnownAtom(name: string): name is AtomName {
  return Object.hasOwn(ATOMS, name);
}

/** The atom with its arguments, or why it can't be rendered. */
export function parseAtom({ name, args }: Atom): ParsedAtom | { wrong: string } {
  if (!isKnownAtom(name)) return { wrong: "unknown atom" };
  const parsed = ATOMS[name].safeParse(args);
  if (parsed.success) return { name, args: parsed.data } as ParsedAtom;
  const [issue] = parsed.error.issues;
  return { wrong: `${[...(issue?.path ?? [])].join(".") || "args"}: ${issue?.message}` };
}

function named(args: {
  name?: string | undefined;
  package?: string | undefined;
  packages?: string[] | undefined;
}) {
  return Boolean((args.name ?? args.package)?.trim()) || (args.packages?.length ?? 0) > 0;
}
