import { type Command, Option } from "commander";
import { PROFILES } from "../../activities/knowledge/search/ranking.ts";
import { inheritFlags } from "./inherit.ts";
import { list } from "./lists.ts";
import { addModelOptions, type ModelOptions } from "./model-options.ts";
import { option } from "./options.ts";
import { number, wholeNumber } from "./values.ts";

const EXPLANATION = `
A base is a name (kept in knowledge/NAME.db of the state folder), "seed" (comes
with the project), a .jsonl or .db file, or a Qdrant collection as
http://host:6333/name (key: QDRANT_API_KEY). docs/knowledge.md tells more.

Examples:
  pnpm bench knowledge search seed "fatal error: ffi.h: No such file or directory"
  pnpm bench knowledge import mine seed && pnpm bench knowledge freeze mine
  pnpm bench knowledge noise mine noisy --total 2000 --seed 1`;

/** What the options of the actions are after parsing; each action has some of them. */
export interface KnowledgeOptions {
  state: string;
  json: boolean;
  embedding: string;
  published: boolean;
  out?: string;
  profile: (typeof PROFILES)[number];
  limit: number;
  minimum?: number;
  threshold?: number;
  language?: string;
  python?: string;
  leaveOut?: string[];
  total?: number;
  count?: number;
  seed: number;
}

type Actions = typeof import("../commands/knowledge.ts");
type Act = (actions: Actions, options: KnowledgeOptions, args: string[]) => Promise<number>;

const plain = (flags: string, description: string) => new Option(flags, description);
const embedding = () =>
  plain("--embedding <name>", "of a base that is made: lexical, or openai:MODEL@DIMENSION").default(
    "lexical",
  );
const threshold = () =>
  plain("--threshold <cosine>", "from which units may be the same, else the embedding's own").argParser(
    number(0, 1),
  );

/** `bench knowledge ACTION`: what units of set-up experience there are, and everything that is done to them. */
export function addKnowledgeVerbs(program: Command, finish: (code: number) => void): void {
  const parent = program
    .command("knowledge")
    .description(
      "bases of set-up experience: what is in them, found by a message, kept clean, spoiled on purpose",
    )
    .addHelpText("after", EXPLANATION);
  const action = (usage: string, description: string, example: string, act: Act): Command => {
    const command = parent
      .command(usage)
      .description(description)
      .addHelpText("after", `\nExample:\n  pnpm bench knowledge ${example}`)
      .addOption(option("--state <dir>", "folder that holds the bases").default(".bench"))
      .addOption(option("--json", "print JSON instead of text").default(false));
    return command.action(async () => {
      inheritFlags(program, command);
      const args = command.processedArgs.flat().filter((it): it is string => typeof it === "string");
      finish(await act(await import("../commands/knowledge.ts"), command.opts(), args));
    });
  };
  addReading(action);
  addWriting(action);
}

type Add = (usage: string, description: string, example: string, act: Act) => Command;

function addReading(action: Add): void {
  action("stats [base]", "what a base holds, in numbers", "stats seed --json", (it, options, args) =>
    it.statsOf(options, args),
  );
  action(
    "search <base> <text...>",
    "the units that answer a message, best first; - reads it from the standard input",
    "search seed - < build.log",
    (it, options, args) => it.searchBase(options, args),
  )
    .addOption(plain("--profile <name>", "how units are ranked").choices(PROFILES).default("default"))
    .addOption(plain("--limit <n>", "so many units").argParser(wholeNumber(1, 1_000)).default(10))
    .addOption(plain("--minimum <cosine>", "least similarity").argParser(number(-1, 1)))
    .addOption(plain("--language <name>", "only units of this language").default("python"))
    .addOption(plain("--python <version>", "units for other versions come later"))
    .addOption(plain("--leave-out <suites>", "without what was learnt from these suites").argParser(list));
  action(
    "show <base> <unit>",
    "one unit, and what its atoms are in a shell",
    "show seed gcc-absent",
    (it, o, a) => it.showUnit(o, a),
  );
  action("export <base>", "the units as JSONL, by id", "export mine --out mine.jsonl", (it, options, args) =>
    it.exportBase(options, args),
  )
    .addOption(plain("--published", "the five published fields alone").default(false))
    .addOption(plain("--out <file>", "write this file instead of the standard output"));
  action("diff <base> <other>", "units that were added, removed or changed", "diff seed mine", (it, o, a) =>
    it.diffBases(o, a),
  );
  action(
    "leave-out <base> <suites...>",
    "the units that learnt from repositories of these suites, and those that don't say from which",
    "leave-out mine envbench-100",
    (it, options, args) => it.leaveOutOf(options, args),
  );
}

function addWriting(action: Add): void {
  action(
    "import <base> <file>",
    "put units of a JSONL file, the published format or ours, or of another base into a base; makes the base",
    "import mine xpu.jsonl",
    (it, options, args) => it.importInto(options, args),
  ).addOption(embedding());
  action(
    "merge <base> <other>",
    "put the units of another base or file into a base, each merged with the one that says the same",
    "merge mine theirs.jsonl",
    (it, options, args) => it.mergeInto(options, args),
  ).addOption(threshold());
  const distill = action(
    "distill <base> <sweeps...>",
    "make units of what runs of finished sweeps mended, by rules or by a model, and merge them into a base; makes the base",
    "distill mine pypi-smoke-20260101-120000",
    (it, options, args) => it.distillInto(options as KnowledgeOptions & ModelOptions, args),
  );
  addModelOptions(distill.addOption(threshold()).addOption(embedding()));
  action("dedup <base>", "merge units of a base that say the same", "dedup mine", (it, options, args) =>
    it.dedupBase(options, args),
  ).addOption(threshold());
  action(
    "noise <base> <new>",
    "make a base of the units of another and of misleading ones made of them",
    "noise seed noisy --total 2000 --seed 1",
    (it, options, args) => it.addNoise(options, args),
  )
    .addOption(plain("--total <n>", "units in the end").argParser(wholeNumber(1, 1e6)))
    .addOption(plain("--count <n>", "misleading units").argParser(wholeNumber(1, 1e6)))
    .addOption(
      plain("--seed <n>", "the same seed gives the same noise")
        .argParser(wholeNumber(0, 2 ** 32 - 1))
        .default(1),
    )
    .addOption(embedding());
  action(
    "freeze <base>",
    "let nothing of a base change any more, and print its digest; its counters stand still as well",
    "freeze mine",
    (it, options, args) => it.freeze(options, args),
  );
}
