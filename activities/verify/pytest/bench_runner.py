"""Runs pytest in the environment under test, exactly as its own `pytest` command would, and reports what happens.

Started by the environment's interpreter as `python bench_runner.py`, with one JSON request on standard input:

    {"key": hex, "mode": "collect" | "run", "only": [ids] | null, "skip": [ids], "limit": seconds}

Standard output is the report: one line per event, `<hex signature> <json>`, where each signature is an HMAC with the
key over the signature before and the JSON. The file behind it lies outside the sandbox, and everything that Python
prints goes to standard error. The key leaves the process's standard input before any code of the project is loaded.

The process splits in two before pytest is imported. The child is pytest. The parent loads no code of the project; it
holds the clock: a test over its limit gets a signal that fails it, and a child that outlives that is killed. (A thread
could not do it: it needs the interpreter's lock, and forking tests behave differently beside a second thread.)

Exit code: the child's; 124 when the child was killed for a test over its limit; 128 + signal when a signal ended it.
Python 3.6 or later.
"""

import hashlib
import hmac
import importlib.util
import json
import mmap
import os
import signal
import struct
import sys
import sysconfig
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TIME_LIMIT_EXIT = 124
# What a test has, after the signal, to unwind and tear down; and pytest, after its end, to leave the process.
UNWIND_SECONDS = 10.0
SHUTDOWN_SECONDS = 60.0
SIGNAL = signal.SIGRTMIN + 12
CLOCK = struct.Struct("dd")


def main():
    request = json.loads(sys.stdin.read())
    report = take_over_standard_streams()
    memory = mmap.mmap(-1, CLOCK.size)
    clock = make_clock(memory)
    key = bytes.fromhex(request.pop("key"))
    child = os.fork()
    if child == 0:
        emit = make_emit(report, key)
        del key, report, memory
        sys.exit(run_pytest(request, emit, clock))
    os.close(report)
    # The parent leaves without the interpreter's shutdown, which would flush buffers that the child has flushed too.
    os._exit(supervise(child, memory))


def take_over_standard_streams():
    """Moves the report to a high descriptor; standard output joins standard error, standard input is empty."""
    import fcntl

    try:
        report = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 400)
    except (OSError, ValueError):
        report = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
    sys.stdout.flush()
    os.dup2(2, 1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    sys.stdin = open(0, "r", closefd=False)
    return report


def make_emit(descriptor, key):
    """A function that signs and writes one event at once; it holds its own references, for tests replace much of `os`."""
    base = hmac.new(key, digestmod=hashlib.sha256)
    owner, getpid, write, dumps, leave = os.getpid(), os.getpid, os.write, json.dumps, os._exit
    last = [b"\n"]

    def emit(event):
        # A test that forks and never leaves runs the rest of the session a second time: that copy has no say.
        if getpid() != owner:
            return
        body = dumps(event).encode("ascii")
        signature = base.copy()
        signature.update(last[0].strip() + body)
        line = signature.hexdigest().encode("ascii")
        # The first line starts with a newline: something may have been printed before us.
        data = (last[0] if last[0] == b"\n" else b"") + line + b" " + body + b"\n"
        last[0] = line
        try:
            while data:
                data = data[write(descriptor, data) :]
        except OSError:
            leave(70)

    return emit


def make_clock(memory):
    """(arm, armed): `arm(seconds, serial)` sets the running test's limit in memory shared with the parent, 0 clears it.
    Serial 0 is the shutdown, which gets no signal."""
    monotonic, pack, unpack = time.monotonic, CLOCK.pack_into, CLOCK.unpack_from

    def arm(seconds, serial):
        pack(memory, 0, monotonic() + seconds if seconds else 0.0, float(serial))

    def armed():
        return unpack(memory, 0)[0] != 0

    return arm, armed


def supervise(child, memory):
    """Waits for the child and enforces the limits; returns the exit code."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    warned, killed = -1.0, False
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            if killed:
                return TIME_LIMIT_EXIT
            return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
        deadline, serial = CLOCK.unpack_from(memory, 0)
        late = time.monotonic() - deadline if deadline else -1.0
        if late >= (UNWIND_SECONDS if serial else 0):
            killed = True
            kill_tree(child)
        elif late >= 0 and serial and warned != serial:
            warned = serial
            os.kill(child, SIGNAL)
        signal.sigtimedwait({signal.SIGCHLD}, 0.2)


def kill_tree(top):
    """SIGKILL to a process and its descendants, the processes that a hung test left running among them."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, "rb") as stat:
                    parents[int(name)] = int(stat.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError):
                continue  # ended meanwhile
    tree = [top]
    for process in tree:
        tree.extend(pid for pid, parent in parents.items() if parent == process)
    for process in tree:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass  # ended meanwhile


def run_pytest(request, emit, clock):
    """Imports and runs pytest as its console script does; the last event is `end`."""
    script = console_script()
    if sys.path and sys.path[0] == HERE:
        sys.path[0] = os.path.dirname(script)
    options = ["--collect-only", "-q"] if request["mode"] == "collect" else ["-q"]
    sys.argv = [script] + options
    arm = clock[0]
    try:
        plugin = load_plugin(request, emit, clock)
        import pytest

        code = int(pytest.main(options, plugins=[plugin]))
    except BaseException as error:
        emit({"event": "end", "exit": None, "error": describe(error)})
        arm(SHUTDOWN_SECONDS, 0)
        raise
    emit({"event": "end", "exit": code, "error": None})
    arm(SHUTDOWN_SECONDS, 0)
    sys.stdout.flush()
    return code


def console_script():
    """Where the environment's `pytest` command is, or would be."""
    folders = [os.path.dirname(sys.executable), sysconfig.get_path("scripts")]
    found = [folder for folder in folders if os.path.exists(os.path.join(folder, "pytest"))]
    return os.path.join((found or folders)[0], "pytest")


def load_plugin(request, emit, clock):
    spec = importlib.util.spec_from_file_location("bench_plugin", os.path.join(HERE, "bench_plugin.py"))
    module = importlib.util.module_from_spec(spec)
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module.Plugin(request, emit, clock, SIGNAL)


def describe(error):
    name = type(error).__name__
    if isinstance(error, ImportError) and getattr(error, "name", None) == "pytest":
        return "pytest is not installed in this environment (%s)" % sys.executable
    return ("%s: %s" % (name, error))[:2000]


if __name__ == "__main__":
    main()
