# The survey itself: one line of JSON.

def date_facts(facts):
    """When the release was made: git's last commit, else the newest file, else the last date of the change log."""
    facts["today"] = datetime.date.today().isoformat()
    try:
        out = subprocess.run(["git", "-c", "safe.directory=*", "log", "-1", "--format=%ct"], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, timeout=20, universal_newlines=True).stdout
        commit = int(out.strip() or 0)
    except (OSError, ValueError, subprocess.SubprocessError):
        commit = 0
    now = time.time()
    times = {}
    for path in FILES[:5000]:
        day = int(os.lstat(os.path.join(ROOT, path)).st_mtime // 86400)
        times[day] = times.get(day, 0) + 1
    # Tools that make releases reproducible give all files one of these times: some of the last century, or these days.
    constant = {16801, 18294, 18295}
    days = [day for day in times if day > 10957 and day not in constant and day * 86400 < now - 86400]
    if commit > 1104537600:
        facts["date"], facts["dateFrom"] = commit // 86400, "git"
    elif days:
        facts["date"], facts["dateFrom"] = max(days), "files"
    else:
        facts["date"], facts["dateFrom"] = changes_day(now), "changes"
    day = facts["date"]
    facts["date"] = datetime.date.fromordinal(day + 719163).isoformat() if day else ""


def changes_day(now):
    days = []
    for path in FILES:
        if path.count("/") <= 1 and re.match(r"^(docs?/)?(change|news|history|release)", path, re.I):
            for found in re.findall(r"\b((?:20)\d\d)[-/.](\d\d?)[-/.](\d\d?)\b", text_of(path, 60000)):
                try:
                    days.append(datetime.date(*map(int, found)).toordinal() - 719163)
                except ValueError:
                    continue  # no date after all
    days = [day for day in days if day * 86400 < now]
    return max(days) if days else 0


def extension_facts(facts):
    backend = str(facts["backend"])
    facts["extension"] |= re.search(r"mesonpy|scikit_build|maturin|setuptools_rust|enscons|cmeel", backend) is not None
    facts["extension"] |= any(re.search(r"cython|pybind11|cffi|numpy|nanobind", line, re.I)
                              for line in facts["buildRequires"])
    facts["extension"] |= any(path.endswith((".pyx", ".i")) for path in FILES)
    facts["native"] = sorted({os.path.splitext(path)[1] for path in FILES} & {".pyx", ".c", ".cpp", ".cc", ".rs", ".f90", ".f", ".i"})


def make_survey():
    facts = {"name": "", "version": "", "backend": "", "buildRequires": [], "requiresPython": "", "installable": False,
             "extension": False, "dependencies": [], "extras": {}, "groups": {}, "testsRequire": [], "toxDeps": [],
             "toxFiles": [], "envExtras": [], "testEnv": {}, "testCommands": [], "requirementFiles": [], "conda": [],
             "apt": [], "documentApt": [], "services": [], "serviceEnv": {}, "ciPip": []}
    pyproject = pyproject_facts(facts)
    setup_cfg = setup_cfg_facts(facts)
    setup_py_facts(facts)
    metadata_facts(facts)
    tox_facts(facts, text_of("tox.ini"))
    nox_facts(facts)
    requirement_files(facts)
    conda_facts(facts)
    ci_facts(facts)
    document_facts(facts)
    header_facts(facts)
    pytest_facts(facts, pyproject, setup_cfg)
    import_facts(facts)
    extension_facts(facts)
    date_facts(facts)
    facts["python"] = "%d.%d" % sys.version_info[:2]
    facts["locks"] = [name for name in ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pixi.lock") if name in FILES]
    facts["submodules"] = ".gitmodules" in FILES
    facts["manage"] = "manage.py" in FILES
    facts["notes"] = notes[:8]
    for key, value in facts.items():
        if isinstance(value, list):
            facts[key] = value[:40] if key == "requirementFiles" else unique(map(str, value), 60)
    return facts


def shortened(facts):
    """Under 14 KB, whatever the repository holds: the longest lists lose their ends."""
    while True:
        line = json.dumps(facts, separators=(",", ":"), ensure_ascii=True)
        if len(line) <= 14000:
            return line
        lists = [(len(json.dumps(value)), parent, key) for parent in (facts, facts["extras"], facts["groups"])
                 for key, value in parent.items() if isinstance(value, list) and value]
        if not lists:
            return json.dumps({key: value for key, value in facts.items() if len(json.dumps(value)) < 1000})
        _, parent, key = max(lists, key=lambda item: item[0])
        parent[key] = parent[key][: len(parent[key]) // 2]


print("SURVEY " + shortened(make_survey()))
