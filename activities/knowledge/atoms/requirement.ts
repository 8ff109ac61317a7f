/**
 * The arguments of pip that mean a package with its version specifier, as published lists write them: `name` may be a
 * distribution, a path, a VCS address, or `-e PATH` and `-r FILE`; `spec` a specifier, a bare version, an extra, a
 * marker or Poetry's caret and tilde. Null: not anything that pip could take, such as another option of pip's.
 */
export function pipArguments(name: string, spec = ""): string[] | null {
  const target = name.trim();
  const option = /^(-e|--editable|-r|--requirement|-c|--constraint)[\s=]+(.+)$/.exec(target);
  if (option?.[1] !== undefined && option[2] !== undefined) {
    return option[2].startsWith("-") ? null : [option[1], option[2]];
  }
  if (target === "" || target.startsWith("-")) return null;
  return [target + specifier(spec)];
}

/** As PEP 440 and PEP 508 write it, to follow the name without a space. */
export function specifier(spec: string): string {
  const given = spec.trim();
  if (given === "" || given === "*" || given === "latest") return "";
  const extra = /^(\[[^\]]*\])(.*)$/.exec(given);
  if (extra !== null) return extra[1] + specifier(extra[2] ?? "");
  const caret = /^\^\s*(\d+(?:\.\d+)*)$/.exec(given);
  if (caret?.[1] !== undefined) return caretRange(caret[1]);
  const tilde = /^~\s*(\d+(?:\.\d+)*)$/.exec(given);
  if (tilde?.[1] !== undefined) return tildeRange(tilde[1]);
  if (/^\d/.test(given)) return `==${given}`;
  return given;
}

/** Up to the next change of the first part that is not zero. */
function caretRange(version: string): string {
  const parts = version.split(".").map(Number);
  const kept = parts.findIndex((part) => part !== 0);
  const index = kept === -1 ? parts.length - 1 : kept;
  const next = [...parts.slice(0, index), (parts[index] ?? 0) + 1].join(".");
  return `>=${version},<${next}`;
}

/** Up to the next minor version, or the next major one where only that is given. */
function tildeRange(version: string): string {
  const parts = version.split(".").map(Number);
  const index = Math.min(1, parts.length - 1);
  const next = [...parts.slice(0, index), (parts[index] ?? 0) + 1].join(".");
  return `>=${version},<${next}`;
}
