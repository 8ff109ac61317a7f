# What the project says that it needs: pyproject.toml, setup.cfg, setup.py, metadata of a release, tox and the like.

def poetry_requirement(name, spec):
    if isinstance(spec, list):
        spec = spec[0] if spec else "*"
    extras, marker = "", ""
    if isinstance(spec, dict):
        if "version" not in spec:
            return None
        extras = "[%s]" % ",".join(strings(spec.get("extras"))) if spec.get("extras") else ""
        marker = " ; " + str(spec["markers"]) if "markers" in spec else ""
        spec = spec["version"]
    return name + extras + ",".join(filter(None, (pep440(part.strip()) for part in str(spec).split(",")))) + marker


def pep440(part):
    match = re.match(r"^([\^~])\s*v?(\d+(?:\.\d+)*)(.*)$", part)
    if match and not part.startswith("~="):
        sign, numbers = match.group(1), [int(number) for number in match.group(2).split(".")]
        keep = (next((i for i, n in enumerate(numbers) if n), len(numbers) - 1) if sign == "^"
                else min(1, len(numbers) - 1))
        upper = numbers[:keep] + [numbers[keep] + 1]
        return ">=%s,<%s" % (match.group(2), ".".join(map(str, upper)))
    if part in ("", "*"):
        return ""
    return part if re.match(r"^[<>=!~]", part) else "==" + part


def poetry_group(table):
    found = (poetry_requirement(name, spec) for name, spec in (table or {}).items() if name.lower() != "python")
    return [requirement for requirement in found if requirement]


def resolved_groups(groups):
    """PEP 735: groups with what they include."""
    def members(name, seen):
        for wanted, items in groups.items():
            if re.sub(r"[-_.]+", "-", wanted).lower() == re.sub(r"[-_.]+", "-", name).lower() and wanted not in seen:
                for item in items if isinstance(items, list) else []:
                    if isinstance(item, str):
                        yield item
                    elif isinstance(get(item, "include-group"), str):
                        yield from members(item["include-group"], seen | {wanted})
    return {name: unique(members(name, frozenset()), 60) for name in groups}


def pyproject_facts(facts):
    data = toml_of("pyproject.toml")
    tool = get(data, "tool") or {}
    project, poetry = get(data, "project") or {}, get(tool, "poetry") or {}
    facts["backend"] = get(data, "build-system", "build-backend") or facts["backend"]
    facts["buildRequires"] = strings(get(data, "build-system", "requires"))
    facts["name"] = project.get("name") or poetry.get("name") or facts["name"]
    facts["requiresPython"] = project.get("requires-python") or facts["requiresPython"]
    facts["installable"] |= bool(project or poetry or get(data, "build-system"))
    facts["dependencies"] += strings(project.get("dependencies")) + poetry_group(poetry.get("dependencies"))
    for name, items in (project.get("optional-dependencies") or {}).items():
        facts["extras"][name] = strings(items)
    for name, items in (poetry.get("extras") or {}).items():
        facts["extras"][name] = strings(items)
    groups = resolved_groups(get(data, "dependency-groups") or {})
    for name, table in (poetry.get("group") or {}).items():
        groups.setdefault(name, poetry_group(get(table, "dependencies")))
    groups.setdefault("dev", poetry_group(poetry.get("dev-dependencies")))
    for name, items in (get(tool, "pdm", "dev-dependencies") or {}).items():
        groups.setdefault(name, strings(items))
    groups.setdefault("uv-dev", strings(get(tool, "uv", "dev-dependencies")))
    for name, env in (get(tool, "hatch", "envs") or {}).items():
        groups.setdefault("hatch-" + name, strings(get(env, "dependencies")) + strings(get(env, "extra-dependencies")))
        facts["envExtras"] += strings(get(env, "features"))
    facts["groups"].update({name: items for name, items in groups.items() if items})
    tox = get(tool, "tox", "legacy_tox_ini")
    if isinstance(tox, str):
        tox_facts(facts, tox)
    options = get(tool, "pytest", "ini_options") or get(tool, "pytest")
    return options if isinstance(options, dict) else None


def setup_cfg_facts(facts):
    parser = ini_of("setup.cfg")
    facts["installable"] |= parser.has_section("metadata")
    facts["name"] = ini_value(parser, "metadata", "name") or facts["name"]
    facts["requiresPython"] = ini_value(parser, "options", "python_requires") or facts["requiresPython"]
    facts["dependencies"] += requirement_lines(ini_value(parser, "options", "install_requires"))
    facts["testsRequire"] += requirement_lines(ini_value(parser, "options", "tests_require"))
    if parser.has_section("options.extras_require"):
        for name, value in parser.items("options.extras_require"):
            facts["extras"].setdefault(name, requirement_lines((value or "").replace(";\n", "\n")))
    return parser


def literal(node, names):
    """The value of a literal expression, lists and dictionaries with what of them is known; else None."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        inner = [literal(item.value if isinstance(item, ast.Starred) else item, names) for item in node.elts]
        return [text for value in inner for text in (value if isinstance(value, list) else [value]) if value]
    if isinstance(node, ast.Dict):
        pairs = [(literal(key, names) if key else None, literal(value, names))
                 for key, value in zip(node.keys, node.values)]
        return {key: value for key, value in pairs if isinstance(key, str)}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = literal(node.left, names), literal(node.right, names)
        return left + right if type(left) is type(right) and isinstance(left, (list, str)) else left or right
    if isinstance(node, ast.Call) and len(node.args) == 1:
        return literal(node.args[0], names)
    if isinstance(node, ast.Subscript):
        key = literal(index_of(node), names)
        value = literal(node.value, names)
        return value.get(key) if isinstance(value, dict) and isinstance(key, str) else None
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def index_of(node):
    """Before Python 3.9 an index is wrapped."""
    return node.slice.value if type(node.slice).__name__ == "Index" else node.slice


def setup_py_facts(facts):
    text = text_of("setup.py")
    if not text:
        return
    facts["installable"] = True
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        notes.append("setup.py: %s" % error)
        return
    names, wanted = {}, {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            value = literal(node.value, names)
            if isinstance(target, ast.Name):
                names[target.id] = value
            elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                key = literal(index_of(target), names)
                if isinstance(names.get(target.value.id), dict) and isinstance(key, str):
                    names[target.value.id][key] = value
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            facts["extension"] |= called == "Extension"
            if called == "setup":
                for word in node.keywords:
                    if word.arg:
                        wanted[word.arg] = literal(word.value, names)
                        facts["extension"] |= word.arg in ("ext_modules", "cffi_modules", "rust_extensions")
    as_list = lambda value: requirement_lines(value) if isinstance(value, str) else strings(value)
    facts["name"] = facts["name"] or (wanted.get("name") if isinstance(wanted.get("name"), str) else "")
    facts["dependencies"] += as_list(wanted.get("install_requires"))
    facts["testsRequire"] += as_list(wanted.get("tests_require"))
    facts["buildRequires"] += as_list(wanted.get("setup_requires"))
    if isinstance(wanted.get("python_requires"), str):
        facts["requiresPython"] = facts["requiresPython"] or wanted["python_requires"]
    for name, items in (wanted.get("extras_require") or {}).items() if isinstance(wanted.get("extras_require"), dict) else ():
        if isinstance(name, str) and as_list(items):
            facts["extras"].setdefault(name, as_list(items))


def metadata_facts(facts):
    """What a release says of itself: PKG-INFO, and the requires.txt of setuptools."""
    info = text_of("PKG-INFO")
    for pattern, key in ((r"^Name: *(\S+)", "name"), (r"^Version: *(\S+)", "version")):
        match = re.search(pattern, info, re.M)
        facts[key] = match.group(1) if match else facts[key]
    head = info.split("\n\n", 1)[0]
    for line in re.findall(r"^Requires-Dist: *(.+)$", head, re.M):
        match = re.search(r"""extra\s*==\s*['"]([^'"]+)['"]""", line)
        if match:
            plain = re.sub(r"""\s*(;|and)\s*\(?extra\s*==\s*['"][^'"]+['"]\)?\s*$""", "", line)
            facts["extras"].setdefault(match.group(1), [])
            facts["extras"][match.group(1)] = unique(facts["extras"][match.group(1)] + [plain.strip()], 80)
        else:
            facts["dependencies"].append(line)
    section = None
    for path in [path for path in FILES if path.endswith(".egg-info/requires.txt") and "Provides-Extra" not in head][:1]:
        for line in text_of(path).splitlines():
            if line.startswith("["):
                section = line.strip("[] ").split(":")[0]
            elif section and is_requirement(line.strip()):
                items = facts["extras"].setdefault(section, [])
                if line.strip() not in items:
                    items.append(line.strip())
