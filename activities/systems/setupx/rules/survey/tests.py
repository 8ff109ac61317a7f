# What the tests use: pytest's configuration, and what test modules import, read by `ast` and never run.

def pytest_facts(facts, pyproject, setup_cfg):
    options, file = None, None
    for path, section in (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("pyproject.toml", None),
                          ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"), ("setup.cfg", "pytest")):
        if path == "pyproject.toml":
            found = pyproject
        else:
            parser = setup_cfg if path == "setup.cfg" else ini_of(path)
            found = dict(parser.items(section)) if parser.has_section(section) else None
        if found is not None:
            options, file = found, path
            break
    flat = {key: " ".join(map(str, value)) if isinstance(value, list) else str(value)
            for key, value in (options or {}).items() if not isinstance(value, dict)}
    facts["pytest"] = {"file": file or "", "addopts": flat.get("addopts", "")[:600],
                       "requiredPlugins": flat.get("required_plugins", "")[:400],
                       "testpaths": flat.get("testpaths", "")[:300], "options": sorted(flat)[:40],
                       "minversion": flat.get("minversion", "")}


def is_test_file(path):
    name = os.path.basename(path)
    folders = path.split("/")[:-1]
    return name.endswith(".py") and (re.match(r"^(test_.*|.*_tests?|tests?|conftest)\.py$", name) is not None
                                     or any(folder in ("test", "tests", "testing") for folder in folders))


def standard_modules():
    known = set(getattr(sys, "stdlib_module_names", ())) or set(sys.builtin_module_names) | {
        re.sub(r"\.(py|.*so)$", "", name) for name in os.listdir(os.path.dirname(os.__file__))}
    old = {"urllib2", "urlparse", "httplib", "StringIO", "cStringIO", "ConfigParser", "Queue", "__builtin__", "exceptions"}
    try:
        from lib2to3.fixes.fix_imports import MAPPING
        old |= {name.split(".")[0] for name in MAPPING}
    except ImportError:
        notes.append("names of Python 2's modules are not known")
    return known | old | {"__main__", "__future__", "distutils", "imp", "asyncore", "asynchat", "smtpd"}


class Imports(ast.NodeVisitor):
    def __init__(self):
        self.needed, self.optional, self.depth = set(), set(), 0

    def add(self, name):
        (self.optional if self.depth else self.needed).add(name.split(".")[0])

    def visit_Import(self, node):
        for alias in node.names:
            self.add(alias.name)

    def visit_ImportFrom(self, node):
        if node.level == 0 and node.module:
            self.add(node.module)

    def guarded(self, nodes):
        self.depth += 1
        for node in nodes:
            self.visit(node)
        self.depth -= 1

    def visit_Try(self, node):
        caught = [ast.dump(handler.type) if handler.type else "Exception" for handler in node.handlers]
        tolerant = any("Import" in text or "ModuleNotFound" in text or "Exception" in text for text in caught)
        if tolerant:
            self.guarded(node.body + node.handlers + node.orelse)
            for inner in node.finalbody:
                self.visit(inner)
        else:
            self.generic_visit(node)

    visit_TryStar = visit_Try

    def visit_If(self, node):
        test = ast.dump(node.test)
        if "TYPE_CHECKING" in test:
            return
        # A choice by platform, version or a flag: either branch may never be taken.
        self.guarded(node.body + node.orelse) if "'sys'" in test or "platform" in test else self.generic_visit(node)

    def visit_FunctionDef(self, node):
        # Imported when called, if ever: the module is there without it.
        self.guarded(node.decorator_list + node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Call(self, node):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        first = node.args[0] if node.args else None
        if name in ("importorskip", "import_module") and isinstance(first, ast.Constant) and isinstance(first.value, str):
            self.optional.add(first.value.split(".")[0])
        self.generic_visit(node)

    def visit_Assign(self, node):
        for target in node.targets:
            if getattr(target, "id", "") == "pytest_plugins":
                value = literal(node.value, {})
                for name in value if isinstance(value, list) else [value]:
                    if isinstance(name, str):
                        self.add(name)
        self.generic_visit(node)


def import_facts(facts):
    standard = standard_modules() | {"pytest", "_pytest", "setuptools", "pkg_resources", "pip"}
    here, needed, optional, own_needed, own_optional = {}, {}, {}, {}, {}
    for path in FILES:
        here.setdefault(os.path.dirname(path), set()).add(re.sub(r"\.(py|pyx|so|pyi)$", "", os.path.basename(path)))
        for folder in [path[:index] for index, letter in enumerate(path) if letter == "/"]:
            here.setdefault(os.path.dirname(folder), set()).add(os.path.basename(folder))
    python = [path for path in FILES if path.endswith(".py")]
    tests = [path for path in python if is_test_file(path)]
    facts["testFiles"] = len(tests)
    top = here.get("", set()) | here.get("src", set()) | here.get("lib", set()) | here.get("python", set())
    until = time.time() + 25
    for path in tests[:1500] + [path for path in python if path not in set(tests)][:1500]:
        if time.time() > until:
            break
        visitor = Imports()
        try:
            visitor.visit(ast.parse(text_of(path)))
        except (SyntaxError, ValueError, RecursionError):
            continue  # not of this Python; its tests say so
        folders = [path[:index] for index, letter in enumerate(path) if letter == "/"]
        local = top.union(*(here.get(folder, set()) for folder in folders)) if folders else top
        is_test = is_test_file(path)
        for names, counts in ((visitor.needed, needed if is_test else own_needed),
                              (visitor.optional, optional if is_test else own_optional)):
            for name in names - standard - local:
                if name and not name.startswith("_"):
                    counts[name] = counts.get(name, 0) + 1
    by_count = lambda counts: sorted(counts, key=lambda name: (-counts[name], name))
    facts["imports"] = by_count(needed)[:60]
    facts["optionalImports"] = [name for name in by_count(optional) if name not in needed][:40]
    facts["sourceImports"] = by_count(own_needed)[:50]
    facts["sourceOptional"] = [name for name in by_count(own_optional) if name not in own_needed][:40]
    facts["packages"] = sorted(name for folder in ("", "src", "lib", "python") for name in here.get(folder, ())
                               if os.path.isfile(os.path.join(ROOT, folder, name, "__init__.py")))[:20]
