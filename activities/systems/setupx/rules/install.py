#!/workspace/tools/bin/python
# `uv pip install` into the environment, from the index that pip is told of. With `--wheels-until DATE` nothing is compiled
# that need not be: what has no wheel as of the era is taken as of that date, and built as of the era only if it has none then.
import os, re, subprocess, sys

os.environ.setdefault("UV_DEFAULT_INDEX", os.environ.get("UV_INDEX_URL") or os.environ.get("PIP_INDEX_URL")
                      or "https://pypi.org/simple")
UV = ["/workspace/tools/bin/uv", "pip", "install", "--quiet", "--python", "/workspace/venv/bin/python"]


def main(args):
    if args[:1] == ["--wheels-until"]:
        date, args = args[1], args[2:]
        if from_wheels(date, args):
            return
    os.execv(UV[0], UV + args)


def next_step(message, newer, built):
    """Takes of what has no wheel a later release, and builds what has none then either; False when that is not it."""
    names = [name for name in re.findall(r"Wheels are required for `([^`\s]+)`", message) if name not in built]
    later = [name for name in names if name not in newer]
    newer += later
    without = re.findall(r"([\w.-]+)(?:[<>=!~,]\S*)? ha(?:s|ve) no usable wheels", message)
    source = re.findall(r"Building source distributions for `([^`\s]+)` is disabled", message)
    wanted = source if later else source + [name for name in without if name in newer]
    build = [name for name in dict.fromkeys(wanted) if name not in built]
    built += build
    newer[:] = [name for name in newer if name not in build]
    return bool(later or build)


def from_wheels(date, args):
    """Whether that was enough; if not, nothing was installed."""
    newer, built = [], []
    for _ in range(40):
        flags = ["--only-binary", ":all:"]
        for name in built:
            flags += ["--no-binary", name]
        for name in newer:
            flags += ["--exclude-newer-package", "%s=%sT00:00:00Z" % (name, date)]
        run = subprocess.run(UV + flags + args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode == 0:
            print("later than the era: %s; built: %s" % (" ".join(newer) or "none", " ".join(built) or "none"))
            return True
        if not next_step(run.stdout, newer, built):
            return False
    return False


if __name__ == "__main__":
    main(sys.argv[1:])
