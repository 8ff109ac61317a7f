# Runs pytest once as its own command would, under a time limit, and prints what it comes to: one line, `LOOK {...}`.
import json, os, re, shutil, signal, subprocess, sys, tempfile, time

SECONDS = int(os.environ.get("LOOK_SECONDS", "420"))
FOLDER = tempfile.mkdtemp(prefix="look-")
EVENTS = os.path.join(FOLDER, "events")
CHILD = r'''
import json, os, re, sys, sysconfig
events = open(sys.argv[1], "a", buffering=1)
owner = os.getpid()


def emit(*event):
    if os.getpid() == owner:
        events.write(json.dumps(event) + "\n")


def text_of(report):
    text = str(getattr(report, "longreprtext", None) or report.longrepr or "")
    if isinstance(report.longrepr, tuple) and len(report.longrepr) == 3:
        text = str(report.longrepr[2])
    return text[-3000:]


# So many failures for one reason say it well enough.
ENOUGH = 100


class Plugin:
    def __init__(self):
        self.reasons, self.reports, self.session = {}, 0, None

    def pytest_sessionstart(self, session):
        self.session = session

    def stop_early(self, text):
        lines = text.strip().splitlines()
        reason = lines[-1][:80] if lines else ""
        for line in lines:
            if line.startswith("E "):
                reason = line[:80]
        if not re.search("No module named|[Cc]onnect|refused|not found|No such file|cannot open shared", reason):
            return
        self.reasons[reason] = self.reasons.get(reason, 0) + 1
        if self.reasons[reason] >= ENOUGH and self.reasons[reason] > self.reports / 2:
            self.session.shouldstop = "enough failures for one reason"

    def pytest_collectreport(self, report):
        if report.failed:
            emit("collect", report.nodeid, text_of(report))

    def pytest_collection_finish(self, session):
        emit("collected", len(session.items))

    def pytest_runtest_logreport(self, report):
        self.reports += report.when == "call" or report.failed
        if report.failed:
            self.stop_early(text_of(report))
            emit("failed" if report.when == "call" else "error", report.nodeid, text_of(report))
        elif report.skipped and report.when != "teardown":
            emit("skipped", report.nodeid, text_of(report)[-300:])
        elif report.when == "call":
            emit("passed", "", "")


folder = os.path.dirname(sys.executable)
script = os.path.join(folder, "pytest")
if not os.path.exists(script):
    script = os.path.join(sysconfig.get_path("scripts"), "pytest")
sys.path[0] = os.path.dirname(script)
sys.argv = [script, "-q", "--continue-on-collection-errors"]
import pytest

sys.exit(int(pytest.main(sys.argv[1:], plugins=[Plugin()])))
'''


def interpreter():
    for path in ("/workspace/venv/bin/python", os.path.join(os.getcwd(), ".venv/bin/python")):
        if os.path.exists(path):
            return path
    return sys.executable


def run():
    """(exit code or None when time was up, seconds, last of the output)"""
    open(EVENTS, "w").close()
    began = time.time()
    with open(os.path.join(FOLDER, "output"), "w+b") as output:
        child = subprocess.Popen([interpreter(), "-c", CHILD, EVENTS], stdin=subprocess.DEVNULL, stdout=output,
                                 stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = child.wait(SECONDS)
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        output.seek(max(0, output.tell() - 200000))
        text = output.read().decode("utf-8", "replace")
    return code, round(time.time() - began), text


def cause_of(text):
    """The lines of a report that say why."""
    said = [line[1:].strip() for line in text.splitlines() if re.match(r"^E( |\t)", line)]
    lines = said or [line.strip() for line in text.splitlines() if line.strip()]
    return "\n".join(line[:400] for line in (lines[:3] + lines[3:][-9:]))


def main():
    code, seconds, output = run()
    counts = {"collected": 0, "passed": 0, "failed": 0, "error": 0, "skipped": 0, "collect": 0}
    groups, skips = {}, {}
    with open(EVENTS, encoding="utf-8") as file:
        for line in file:
            try:
                kind, name, text = (json.loads(line) + [""])[:3]
            except ValueError:
                continue  # cut off where the process was ended
            if kind == "collected":
                counts["collected"] = name
                continue
            counts[kind] += 1
            if kind == "skipped":
                skips[text[:200]] = skips.get(text[:200], 0) + 1
            elif kind != "passed":
                cause = cause_of(text)
                key = kind + re.sub(r"0x[0-9a-f]+|\d+", "N", cause.splitlines()[-1] if cause else "")
                group = groups.setdefault(key, {"kind": kind, "count": 0, "where": name, "text": cause})
                group["count"] += 1
    worst = sorted(groups.values(), key=lambda group: (group["kind"] != "collect", -group["count"]))[:40]
    skipped = sorted(skips.items(), key=lambda item: -item[1])[:15]
    tail = "" if code in (0, 1) and counts["collected"] else "\n".join(line[:500] for line in output.splitlines()[-60:])[-7000:]
    report = {"exit": code, "seconds": seconds, "counts": counts, "groups": worst, "skips": skipped, "tail": tail}
    while len(json.dumps(report)) > 15000 and report["groups"]:
        report["groups"] = report["groups"][: len(report["groups"]) * 3 // 4]
    shutil.rmtree(FOLDER, ignore_errors=True)
    print("LOOK " + json.dumps(report, separators=(",", ":")))


main()
