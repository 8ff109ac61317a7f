/** Advice that fits everything and helps with nothing. */
export const VAGUE_ADVICE: readonly (readonly [string, string])[] = [
  ["Check that all requirements are met.", "Install what is missing and try again."],
  ["The environment may be out of date.", "Upgrade the tools and repeat the command."],
  ["Look at the log for the first error.", "Fix its cause before anything else."],
  ["Some dependency may be incompatible.", "Try another version of it."],
  ["The configuration may be incomplete.", "Compare it with the documentation."],
  ["The build may lack a system package.", "Install the usual development tools."],
  ["A path may be wrong.", "Check the variables of the environment."],
  ["A cache may be stale.", "Clear it and start afresh."],
  ["Permissions may be wrong.", "Check who owns the files."],
  ["The network may be unreliable.", "Try again later or use a mirror."],
  ["The interpreter may be the wrong one.", "Make sure that the intended one is used."],
  ["The tests may need more set-up.", "Read how the maintainers run them."],
];

export const VAGUE_KEYWORDS: readonly (readonly string[])[] = [
  ["error", "failed", "install"],
  ["dependency", "version", "missing"],
  ["build", "failed", "package"],
  ["test", "failed", "import"],
  ["environment", "path", "not found"],
  ["configuration", "invalid", "option"],
];

/** Problems of other languages, whose messages sound alike. */
export const FOREIGN = [
  {
    lang: "javascript",
    tools: ["npm"],
    regex: ["npm ERR! code ERESOLVE", "unable to resolve dependency tree"],
    keywords: ["npm", "ERESOLVE", "dependency", "conflict"],
    trigger: "npm cannot agree on peer dependencies",
    advice: "Install with the old handling of peer dependencies.",
    command: "npm install --legacy-peer-deps",
  },
  {
    lang: "javascript",
    tools: ["node"],
    regex: ["Error: Cannot find module", "MODULE_NOT_FOUND"],
    keywords: ["Cannot find module", "require", "node_modules"],
    trigger: "a module is not found at run time",
    advice: "Remove the installed modules and install them anew.",
    command: "rm -rf node_modules && npm install",
  },
  {
    lang: "rust",
    tools: ["cargo"],
    regex: ["error\\[E0432\\]: unresolved import", "could not compile"],
    keywords: ["cargo", "unresolved import", "compile"],
    trigger: "a crate is not found while compiling",
    advice: "Update the lock file and build again.",
    command: "cargo update && cargo build",
  },
  {
    lang: "go",
    tools: ["go"],
    regex: ["missing go\\.sum entry", "cannot find package"],
    keywords: ["go.sum", "module", "cannot find package"],
    trigger: "a module's checksum is missing",
    advice: "Tidy the module's requirements.",
    command: "go mod tidy && go mod download",
  },
  {
    lang: "ruby",
    tools: ["bundler"],
    regex: ["Could not find gem", "Bundler::GemNotFound"],
    keywords: ["gem", "bundler", "Could not find"],
    trigger: "a gem is not installed",
    advice: "Install the bundle with the development group.",
    command: "bundle install --with development",
  },
] as const;
