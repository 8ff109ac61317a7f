"""The pytest plugin of bench_runner.py: says what is collected and what comes of each test, while it happens.

Works with pytest 3.7 to 9. Outcomes of a test (events `result`):

    passed   every phase passed, and no phase raised
    xpassed  expected to fail, not strictly, and passed
    failed   the call raised, a subtest failed, or a strict xfail passed
    error    set-up or tear-down raised, the time limit was reached, or the test ended the session
    skipped  skipped in set-up or call
    xfailed  expected to fail, and failed

What the project configures stays, but for what stops early, reorders, or runs the tests in other processes: there
would then be tests without an outcome, or outcomes that depend on chance.
"""

import signal
import sys
import time

import pytest

# Values for `config.option`, put where a plugin has defined the name.
NEUTRAL = {
    # stop early
    "maxfail": 0,
    "stepwise": False,
    "stepwise_skip": False,
    "usepdb": False,
    "trace": False,
    # choose or order by the results of an earlier run, or by chance
    "lf": False,
    "failedfirst": False,
    "newfirst": False,
    "randomly_reorganize": False,
    "random_order_enabled": False,
    "random_order_bucket": "none",
    # other processes (pytest-xdist)
    "numprocesses": None,
    "dist": "no",
    "distload": False,
    "tx": [],
    "looponfail": False,
}
TEXT_LIMIT = 2000


class TimeLimit(pytest.fail.Exception):
    """Derived from pytest's own failure: no `except Exception` of a test catches it, and pytest tears down after it."""


class Plugin:
    def __init__(self, request, emit, clock, signum):
        self._collecting = request["mode"] == "collect"
        self._only = None if request["only"] is None else frozenset(request["only"])
        self._skip = frozenset(request["skip"])
        self._limit = request["limit"]
        self._emit = emit
        self._arm, self._armed = clock
        self._signum = signum
        self._serial = 0
        self._monotonic = time.monotonic
        self._reset(None)

    def _reset(self, nodeid):
        self._current = nodeid
        self._reports = {}
        self._raised = {}
        self._timed_out = False

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_cmdline_main(self, config):
        for name, value in NEUTRAL.items():
            if hasattr(config.option, name):
                setattr(config.option, name, value)
        if not self._collecting:
            # One module that can't be imported must not hide what the others achieve.
            config.option.continue_on_collection_errors = True
        yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session):
        rootdir = getattr(session.config, "rootpath", None) or session.config.rootdir
        python = ".".join(str(part) for part in sys.version_info[:3])
        self._emit(
            {"event": "session", "pytest": pytest.__version__, "python": python, "rootdir": str(rootdir)}
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report):
        if report.failed:
            self._emit({"event": "collect_error", "id": report.nodeid, "text": shorten(report.longrepr)})
        else:
            count = sum(1 for node in report.result or () if isinstance(node, pytest.Item))
            if count:
                self._emit({"event": "module", "id": report.nodeid, "count": count})

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, config, items):
        yield
        only, skip = self._only, self._skip
        keep = [item for item in items if (only is None or item.nodeid in only) and item.nodeid not in skip]
        if len(keep) < len(items):
            kept = set(map(id, keep))
            config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
            items[:] = keep

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session):
        for item in session.items:
            self._emit({"event": "item", "id": item.nodeid})
        self._emit({"event": "collected", "count": len(session.items)})

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        self._reset(item.nodeid)
        self._serial += 1
        self._emit({"event": "start", "id": item.nodeid})
        began = self._monotonic()
        signal.signal(self._signum, self._on_signal)
        self._arm(self._limit, self._serial)
        yield
        self._arm(0, self._serial)
        outcome, text = self._verdict()
        seconds = round(self._monotonic() - began, 4)
        self._emit(
            {"event": "result", "id": item.nodeid, "outcome": outcome, "seconds": seconds, "text": text}
        )
        self._current = None

    def _on_signal(self, _signum, _frame):
        if self._armed() and not self._timed_out:
            self._timed_out = True
            raise TimeLimit("over the time limit of %g s" % self._limit)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        yield
        # What really happened, whatever hooks make of the report later.
        self._raised[call.when] = call.excinfo is not None

    def pytest_runtest_logreport(self, report):
        if report.nodeid != self._current:
            return
        if report.when == "setup":
            self._reports = {}  # a plugin runs the test again
        # Subtests are calls of the same test; a skipped one says nothing about the rest.
        if "subtest" in type(report).__name__.lower() and not report.failed:
            return
        self._reports.setdefault(report.when, []).append(
            (report.outcome, hasattr(report, "wasxfail"), shorten(report.longrepr))
        )

    def _verdict(self):
        """(outcome, text) of the test that has just run."""
        setup, call, teardown = (self._reports.get(when, []) for when in ("setup", "call", "teardown"))
        if self._timed_out:
            return "error", "timeout: over the limit of %g s" % self._limit
        for outcome, phase in (("failed", call), ("error", setup), ("error", teardown)):
            texts = [text for result, _, text in phase if result == "failed"]
            if texts:
                return outcome, texts[0]
        if not teardown:
            return "error", "the test ended the session"
        for result, expected, text in setup + call:
            if result == "skipped":
                return ("xfailed" if expected else "skipped"), text
        if not any(result == "passed" for result, _, _ in call):
            return "error", "the test was never called"
        if any(self._raised.values()):
            return "failed", "the test raised, and its report was changed to passed"
        return ("xpassed" if call[-1][1] else "passed"), None

    def pytest_keyboard_interrupt(self, excinfo):
        self._emit({"event": "interrupted", "text": shorten(excinfo.value)})

    def pytest_internalerror(self, excrepr):
        self._emit({"event": "internal_error", "text": shorten(excrepr)})

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session, exitstatus):
        # Before the others: projects exist that leave the process from here.
        self._emit({"event": "finish", "exit": int(exitstatus)})
        yield


def shorten(representation):
    """The telling part of a report's text: where it crashed and why, or its last lines."""
    if representation is None:
        return None
    crash = getattr(representation, "reprcrash", None)
    if crash is not None:
        return ("%s:%s: %s" % (crash.path, crash.lineno, crash.message))[:TEXT_LIMIT]
    if isinstance(representation, tuple) and len(representation) == 3:
        return str(representation[2])[:TEXT_LIMIT]
    return str(representation)[-TEXT_LIMIT:]
