# Reading without trust: bounded sizes and counts, links never followed out of the repository, no code of it run.
import ast, configparser, datetime, glob, io, json, os, re, subprocess, sys, time

ROOT = os.path.realpath(os.getcwd())
MOST_BYTES = 400000
SKIP = {".git", ".hg", "node_modules", "__pycache__", "venv", ".venv", ".tox", ".nox", "build", "dist", ".eggs",
        "site-packages"}
notes = []


def text_of(path, most=MOST_BYTES):
    full = os.path.realpath(os.path.join(ROOT, path))
    if not (full + os.sep).startswith(ROOT + os.sep) or not os.path.isfile(full):
        return ""
    try:
        with open(full, "rb") as file:
            return file.read(most).decode("utf-8", "replace").replace("\r\n", "\n")
    except OSError as error:
        notes.append("%s: %s" % (path, error))
        return ""


def walk():
    """Paths below the root, at most 20,000, nearer ones first."""
    found, queue = [], [""]
    while queue and len(found) < 20000:
        folder = queue.pop(0)
        try:
            entries = sorted(os.scandir(os.path.join(ROOT, folder)), key=lambda entry: entry.name)
        except OSError:
            continue  # not readable: nothing is known of it
        for entry in entries:
            path = os.path.join(folder, entry.name)
            if entry.is_symlink():
                continue
            if entry.is_dir():
                if entry.name not in SKIP and path.count(os.sep) < 8:
                    queue.append(path)
            elif entry.is_file():
                found.append(path)
    return found


FILES = walk()


def toml_of(path):
    text = text_of(path)
    if not text:
        return {}
    try:
        try:
            import tomllib
        except ImportError:
            from pip._vendor import tomli as tomllib
        return tomllib.loads(text)
    except Exception as error:
        notes.append("%s: %s" % (path, error))
        return {}


def ini_of(path):
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text_of(path))
    except configparser.Error as error:
        notes.append("%s: %s" % (path, str(error)[:200]))
    return parser


def ini_value(parser, section, key):
    return (parser.get(section, key) or "") if parser.has_option(section, key) else ""


def get(value, *keys):
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def strings(value):
    return [item.strip() for item in value if isinstance(item, str) and item.strip()] if isinstance(value, list) else []


def is_requirement(line):
    return re.match(r"^[A-Za-z0-9][A-Za-z0-9._-]*\s*(\[[^\]]*\])?\s*([<>=!~@;(].*)?$", line) is not None


def requirement_lines(text):
    return [line for line in (re.sub(r"(^|\s)#.*$", "", raw).strip() for raw in text.splitlines())
            if is_requirement(line)]


def unique(items, most):
    return list(dict.fromkeys(items))[:most]
