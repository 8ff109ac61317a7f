# What other tools install to run the tests: tox, nox, requirement files, conda, CI, containers.

def tox_facts(facts, text):
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        notes.append("tox: %s" % str(error)[:200])
        return
    for section in parser.sections():
        base = section == "testenv"
        if not base and not re.match(r"^testenv:.*(py|test|unit)", section):
            continue
        for line in ini_value(parser, section, "deps").splitlines():
            line = line.strip()
            factor = re.match(r"^!?[A-Za-z0-9_{},!.-]+:\s+?(.*)$", line)
            # Conditions other than on Python and tests choose among old, lowest or special versions.
            if factor and not re.match(r"^!?\{?(py|test|unit|cov|cpython)", line):
                continue
            line = factor.group(1).strip() if factor else line
            if line.startswith("-r"):
                facts["toxFiles"].append(line[2:].strip().replace("{toxinidir}/", ""))
            elif is_requirement(line):
                facts["toxDeps"].append(line)
        facts["envExtras"] += [name.strip() for name in
                               re.split(r"[\s,]+", ini_value(parser, section, "extras")) if name.strip()]
        for line in ini_value(parser, section, "setenv").splitlines():
            match = re.match(r"^\s*([A-Z][A-Z0-9_]*)\s*=\s*([^{}]*)$", line)
            if base and match:
                facts["testEnv"][match.group(1)] = match.group(2).strip()
        if base:
            facts["testCommands"] += [line.strip() for line in
                                      ini_value(parser, section, "commands").splitlines() if line.strip()][:6]


def nox_facts(facts):
    try:
        tree = ast.parse(text_of("noxfile.py"))
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or "test" not in node.name:
            continue
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "install":
                words = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
                facts["toxDeps"] += [word for word in words if is_requirement(word)]
                for word in words:
                    match = re.match(r"^\.\[(.+)\]$", word)
                    facts["envExtras"] += match.group(1).split(",") if match else []
                for flag, word in zip(words, words[1:]):
                    if flag in ("-r", "--requirement"):
                        facts["toxFiles"].append(word)


def requirement_files(facts):
    pattern = re.compile(r"(^|/)[^/]*require[^/]*\.(txt|in|pip)$|(^|/)require[^/]*/[^/]+\.(txt|in|pip)$"
                         r"|(^|/)(dev|test|tests|ci)[^/]*\.(txt|pip)$", re.I)
    for path in [path for path in FILES if pattern.search(path) and path.count("/") <= 3 and ".egg-info/" not in path][:40]:
        text = text_of(path, 60000)
        names = [re.match(r"[A-Za-z0-9._-]+", line).group(0) for line in requirement_lines(text)]
        included = re.findall(r"^\s*(?:-r|--requirement)[ =]*(\S+)", text, re.M)
        editable = re.search(r"^\s*-e\s+\.|^\s*\.(\[|\s*$)", text, re.M) is not None
        if names or included:
            facts["requirementFiles"].append({"path": path, "names": unique(names, 60), "includes": included[:6],
                                              "own": editable})


def conda_facts(facts):
    for path in [path for path in FILES if re.search(r"(^|/)(environment|conda)[^/]*\.ya?ml$", path)][:3]:
        for line in text_of(path, 30000).splitlines():
            match = re.match(r"^\s*-\s*(?:[\w-]+::)?([A-Za-z][\w.-]*)\s*(?:[=<>!~ ].*)?$", line)
            if match and match.group(1) not in ("python", "pip", "conda-forge", "defaults", "nodefaults"):
                facts["conda"].append(match.group(1))
    facts["pipfile"] = sorted(set(get(toml_of("Pipfile"), "dev-packages") or {}))


SERVICES = ("postgres", "mysql", "mariadb", "redis", "memcached", "mongo", "rabbitmq", "elasticsearch")


def ci_facts(facts):
    paths = [path for path in FILES if re.search(
        r"^\.github/workflows/[^/]+\.ya?ml$|^\.travis\.yml$|^\.gitlab-ci\.yml$|^\.circleci/config\.yml$"
        r"|^azure-pipelines\.yml$|^\.?cirrus\.yml$|(^|/)Dockerfile[^/]*$|(^|/)docker-compose[^/]*\.ya?ml$"
        r"|^\.readthedocs\.ya?ml$", path)][:25]
    for path in paths:
        text = re.sub(r"\\\n\s*", " ", text_of(path, 100000))
        for line in text.splitlines():
            match = re.search(r"(?:apt-get|apt|aptitude)\s+(?:-\S+\s+)*install\s+(.*)", line)
            for word in re.split(r"[\s]+", re.split(r"&&|\||;", match.group(1))[0]) if match else ():
                if re.match(r"^[a-z0-9][a-z0-9+.-]+$", word):
                    facts["apt"].append(word)
            match = re.search(r"^\s*-?\s*(?:image:\s*['\"]?(?:[\w./-]+/)?|-\s+)(%s)\w*\b" % "|".join(SERVICES), line)
            if match:
                facts["services"].append(match.group(1))
            match = re.search(r"pip3?\s+install\s+(.*)", line)
            for word in re.split(r"\s+", re.split(r"&&|\||;", match.group(1))[0]) if match else ():
                word = word.strip("'\"")
                extra = re.match(r"^\.\[([\w,.-]+)\]$", word)
                facts["envExtras"] += extra.group(1).split(",") if extra else []
                if is_requirement(word) and not word.endswith((".txt", ".toml")):
                    facts["ciPip"].append(word)
            match = re.match(r"^\s+((?:POSTGRES|PG|MYSQL|MARIADB|REDIS)[A-Z_]*):\s*['\"]?([\w./:@-]+)['\"]?\s*$", line)
            if match:
                facts["serviceEnv"][match.group(1)] = match.group(2)


def document_facts(facts):
    """Packages with headers that the documents name for Debian."""
    paths = [path for path in FILES if path.count("/") <= 3 and re.search(
        r"(^|/)(readme|install|contributing|hacking|[^/]*getting.started|[^/]*development)[^/]*$|(^|/)docs?/.*install[^/]*$",
        path, re.I) and not path.endswith((".py", ".c", ".png", ".svg"))][:30]
    for path in paths:
        for line in text_of(path, 100000).splitlines():
            match = re.search(r"apt(?:-get)?\s+(?:-\S+\s+)*install\s+(.*)", line)
            for word in re.split(r"[\s`'\",]+", match.group(1)) if match else ():
                if re.match(r"^(lib[a-z0-9+.-]+-dev|[a-z][a-z0-9+.-]+-dev|pkg-config|swig|cmake)$", word):
                    facts["documentApt"].append(word)


def header_facts(facts):
    """Headers that sources include and that neither the repository nor this machine has, the most included first."""
    folders = (["/usr/include", "/usr/local/include"] + glob.glob("/usr/include/*-linux-gnu") + glob.glob("/usr/include/c++/*")
               + glob.glob("/usr/lib/gcc/*/*/include") + glob.glob("/usr/include/python3*"))
    own = {os.path.basename(path) for path in FILES}
    counts = {}
    sources = [path for path in FILES if path.endswith((".c", ".h", ".i", ".cpp", ".cc", ".hpp", ".cxx", ".pyx", ".pxd", ".pxi"))]
    for path in sources[:1500]:
        for name in re.findall(r"""^\s*(?:#\s*include\s*[<"]|cdef extern from ["'<]+)([\w./+-]+\.h(?:pp)?)[>"']""",
                               text_of(path, 300000), re.M):
            if os.path.basename(name) not in own and ".." not in name:
                counts[name] = counts.get(name, 0) + 1
    missing = [name for name in counts if not any(os.path.exists(os.path.join(folder, name)) for folder in folders)]
    facts["headers"] = sorted(missing, key=lambda name: (-counts[name], name))[:25]
