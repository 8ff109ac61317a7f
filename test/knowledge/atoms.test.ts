import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import test from "ava";
import fc from "fast-check";
import { ATOM_NAMES } from "../../activities/knowledge/atoms/parse.ts";
import { expandValue, quote, quoteValue } from "../../activities/knowledge/atoms/quote.ts";
import { renderAtoms, renderedScript } from "../../activities/knowledge/atoms/render.ts";
import { pipArguments, specifier } from "../../activities/knowledge/atoms/requirement.ts";

const run = promisify(execFile);
const bash = async (script: string, env: NodeJS.ProcessEnv = {}) =>
  (await run("bash", ["-c", script], { env: { PATH: process.env.PATH, ...env } })).stdout;
const render = (name: string, args: Record<string, unknown>, captures = {}) =>
  renderAtoms([{ name, args }], { captures });
const commandOf = (name: string, args: Record<string, unknown>) => render(name, args).commands.join("\n");

test("there are twelve atoms, and each renders what it says", (t) => {
  const apt =
    "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends";
  const cases: [string, Record<string, unknown>, string][] = [
    ["pip_install", { name: "wheel" }, "python3 -m pip install wheel"],
    [
      "pip_install",
      { package: "x", version: "1.2", flags: "--no-deps" },
      "python3 -m pip install --no-deps x==1.2",
    ],
    ["pip_install", { packages: "a b", flags: ["-U"] }, "python3 -m pip install -U a b"],
    ["pip_install", { name: "-e .[test]" }, "python3 -m pip install -e '.[test]'"],
    ["pip_install", { name: "x", spec: ">=1,<2" }, "python3 -m pip install 'x>=1,<2'"],
    ["pip_pin", { name: "numpy", spec: "<2" }, "python3 -m pip install 'numpy<2'"],
    ["apt_install", { packages: "gcc make" }, `${apt} gcc make`],
    ["apt_install", { packages: ["libffi-dev"] }, `${apt} libffi-dev`],
    ["npm_install", {}, "npm install"],
    ["npm_install", { packages: ["@a/b", "c"] }, "npm install @a/b c"],
    ["shell", { cmd: "a | b" }, "a | b"],
    ["adjust_command", { modified_command: "x --y" }, "x --y"],
    ["or_upgrade_pkg", { name: "pip", min_version: 25 }, "python3 -m pip install --upgrade 'pip>=25'"],
    ["or_upgrade_pkg", { package_manager: "apt", package_name: "cmake", use_sudo: true }, `${apt} cmake`],
  ];
  for (const [name, args, expected] of cases) t.is(commandOf(name, args), expected, JSON.stringify(args));
  t.regex(
    commandOf("conda_install", { packages: "gdal", channel: "conda-forge" }),
    / install -y -c conda-forge gdal$/,
  );
  t.deepEqual(render("set_env", { var: "A", value: 1 }).environment, { A: "1" });
  t.is(render("set_umask", { value: "022" }).umask, "022");
  t.deepEqual(render("set_pytest_flag", { name: "-p", value: "no:x y" }).environment, {
    PYTEST_ADDOPTS: `\${PYTEST_ADDOPTS} -p 'no:x y'`,
  });
  t.deepEqual(render("set_django_setting", { key: "DJANGO_SETTINGS_MODULE", value: "a.b" }).environment, {
    DJANGO_SETTINGS_MODULE: "a.b",
  });
  t.is(ATOM_NAMES.length, 12);
});

test("what can't be rendered gives nothing and says why", (t) => {
  const cases: [string, Record<string, unknown>, RegExp][] = [
    ["launch_rocket", {}, /unknown atom/],
    ["pip_install", {}, /must have name/],
    ["pip_install", { name: "--index-url=http://evil" }, /is nothing that pip installs/],
    ["pip_install", { name: "-e --evil" }, /is nothing that pip installs/],
    ["pip_pin", { name: "x" }, /must have spec/],
    ["apt_install", { packages: ["x; reboot"] }, /must have packages|not the name of a Debian package/],
    ["apt_install", { packages: ["-o=Dir::Etc=x"] }, /not the name of a Debian package/],
    ["conda_install", { packages: ["--evil"] }, /not the name of a package/],
    ["npm_install", { packages: ["--evil"] }, /not the name of a package/],
    ["set_env", { key: "A B", value: "1" }, /a variable's name/],
    ["set_umask", { value: "x; reboot" }, /octal/],
    ["set_pytest_flag", { name: "; reboot" }, /must be a flag/],
    ["set_django_setting", { key: "a;b", value: 1 }, /a setting's name/],
    ["shell", { cmd: " " }, /must have cmd/],
  ];
  for (const [name, args, reason] of cases) {
    const { commands, environment, left } = render(name, args);
    t.deepEqual({ commands, environment }, { commands: [], environment: {} }, name);
    t.regex(left[0]?.reason ?? "", reason);
  }
});

test("specifiers are taken in every form that lists use", (t) => {
  t.is(specifier("1.2"), "==1.2");
  t.is(specifier("^1.2.3"), ">=1.2.3,<2");
  t.is(specifier("^0.2.3"), ">=0.2.3,<0.3");
  t.is(specifier("^0.0.3"), ">=0.0.3,<0.0.4");
  t.is(specifier("~1.2.3"), ">=1.2.3,<1.3");
  t.is(specifier("[all] 2.0"), "[all]==2.0");
  t.is(specifier("*"), "");
  t.is(specifier(" ~=1.4 "), "~=1.4");
  t.deepEqual(pipArguments("-r dev.txt"), ["-r", "dev.txt"]);
  t.deepEqual(pipArguments("git+https://example.org/a.git"), ["git+https://example.org/a.git"]);
});

test("a quoted text is one word of bash, whatever it holds", async (t) => {
  const text = fc.string({ unit: fc.constantFrom(..."a'\"$`\\ \n;&|(){}*?~!#<>-é=") });
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 60 }), async (values) => {
      t.is(
        await bash(`printf '%s\\0' ${values.map(quote).join(" ")}`),
        values.map((value) => `${value}\0`).join(""),
      );
    }),
    { numRuns: 5 },
  );
});

test("a value means the same to bash and to a frame, and never runs anything", async (t) => {
  const part = fc.constantFrom(
    "$A",
    `\${A}`,
    `\${B}`,
    "$(reboot)",
    "`reboot`",
    "x y",
    "'",
    '"',
    "\\",
    "${A",
    "$1",
    "$",
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(part, { maxLength: 6 }), { minLength: 1, maxLength: 60 }),
      async (all) => {
        const values = all.map((parts) => parts.join(""));
        const environment = { A: "it's $(A)", PATH: process.env.PATH ?? "" };
        const lines = values.map((value) => `export V=${quoteValue(value)}; printf '%s\\0' "$V"`);
        const said = await bash(["reboot() { echo RAN >&2; exit 9; }", ...lines].join("\n"), environment);
        t.is(said, values.map((value) => `${expandValue(value, environment)}\0`).join(""));
      },
    ),
    { numRuns: 5 },
  );
});

test("what a message says stays one word of a command", async (t) => {
  const evil = "x'; echo RAN; '$(echo RAN)";
  const { commands } = render("shell", { cmd: "printf '%s|' a {{module}} b" }, { module: evil });
  t.is(await bash(commands.join("\n")), `a|${evil}|b|`);
  t.deepEqual(render("pip_install", { name: "{{module}}" }, { module: "--index-url=x" }).commands, []);
  t.regex(render("pip_install", { name: "{{module}}" }).left[0]?.reason ?? "", /needs module of a message/);
});

test("variables, umask and commands hold together in the script of a unit", async (t) => {
  const script = renderedScript(
    renderAtoms([
      { name: "shell", args: { cmd: 'echo "$GREETING"; umask' } },
      { name: "set_env", args: { key: "GREETING", value: "hello $WHO" } },
      { name: "set_umask", args: { value: "077" } },
      { name: "set_pytest_flag", args: { name: "--a", value: "1" } },
      { name: "set_pytest_flag", args: { name: "--b", value: "2" } },
    ]),
  );
  const said = await bash(`${script}\necho "$PYTEST_ADDOPTS"`, { WHO: "world", PYTEST_ADDOPTS: "-q" });
  t.is(said, "hello world\n0077\n-q --a=1 --b=2\n");
});

test("Django settings last: every later process sees them over the project's own", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "setup-bench-django-"));
  await mkdir(join(folder, "site"));
  await writeFile(join(folder, "site", "__init__.py"), "");
  await writeFile(
    join(folder, "manage.py"),
    'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "own_settings")\n',
  );
  await writeFile(join(folder, "own_settings.py"), "DEBUG = False\nNAME = 'own'\nKEPT = 1\n");
  await run("python3", ["-m", "venv", "--without-pip", join(folder, "venv")]);
  const rendered = renderAtoms([
    { name: "set_django_setting", args: { key: "DEBUG", value: "True" } },
    { name: "set_django_setting", args: { key: "NAME", value: 'it\'s `x` "new"' } },
  ]);
  const env = { PATH: `${join(folder, "venv", "bin")}:${process.env.PATH}` };
  await bash(`cd '${folder}'\n${renderedScript(rendered)}`, env);
  const look = `import importlib, os; s = importlib.import_module(os.environ["DJANGO_SETTINGS_MODULE"]); print(s.DEBUG, s.NAME, s.KEPT)`;
  const later = await bash(`cd '${folder}' && python3 -c ${quote(look)}`, {
    ...env,
    ...rendered.environment,
  });
  t.is(later, 'True it\'s `x` "new" 1\n');
  t.is(await readFile(join(folder, "own_settings.py"), "utf8"), "DEBUG = False\nNAME = 'own'\nKEPT = 1\n");
  await rm(folder, { recursive: true });
});
