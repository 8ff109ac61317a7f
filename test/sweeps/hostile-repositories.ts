/** Repositories and set-up scripts that try to harm the host or the score. All have one honest test, the gold one. */
export interface Hostile {
  /** Files of the repository besides the honest test. */
  files: Record<string, string>;
  /** Runs before, or instead of, the honest set-up. */
  script: string;
  /** Whether the honest set-up follows. */
  setsUp: boolean;
  /** What the run must come to. */
  expected: { ebsr: boolean; essr: number };
}

export const HONEST_TEST = "def test_honest():\n    assert True\n";
export const SET_UP = "python3 -m venv /workspace/venv && /workspace/venv/bin/pip install -q pytest\n";

const harmless = { ebsr: true, essr: 1 };
const failed = { ebsr: false, essr: 0 };

/** `secret` is the path of a file on the host that no sandbox may see. */
export function hostileRepositories(secret: string): Record<string, Hostile> {
  return {
    "fork-bomb": {
      files: {},
      script: "bomb() { bomb | bomb & }; bomb; sleep 60",
      setsUp: false,
      expected: failed,
    },
    "disk-filler": {
      files: {},
      script: "dd if=/dev/zero of=/workspace/fill bs=1M; test $? != 0 && rm /workspace/fill",
      setsUp: true,
      expected: harmless,
    },
    "output-flood": { files: {}, script: "yes flood", setsUp: false, expected: failed },
    "memory-hog": {
      files: {},
      script: 'python3 -c "x = bytearray(8 << 30)"; true',
      setsUp: true,
      expected: harmless,
    },
    killer: { files: {}, script: "kill -9 -1; kill -9 1; true", setsUp: true, expected: harmless },
    "host-reader": {
      files: {},
      script: `
        ! cat ${secret} && ! env | grep -i planted && ! ls /proc/1/root/ && ! cat /proc/1/environ &&
        ! grep -l planted /proc/[0-9]*/environ`,
      setsUp: true,
      expected: harmless,
    },
    privileges: {
      files: {},
      script: `
        ! sudo -n true && ! mount -t tmpfs none /mnt && ! unshare --user --map-root-user true && ! chroot /proc/1/root true &&
        ! mknod /dev/sda b 8 0 && ! dmesg && ! sh -c 'echo b > /proc/sysrq-trigger'`,
      setsUp: true,
      expected: harmless,
    },
    "loopback-reader": {
      files: {},
      script: `
        for port in $(seq 1 200); do ! (echo > /dev/tcp/10.0.2.2/$port) || exit 1; done 2>/dev/null`,
      setsUp: true,
      expected: harmless,
    },
    miner: {
      files: {},
      script: "nohup setsid sh -c 'while :; do :; done' >/dev/null 2>&1 &",
      setsUp: true,
      expected: harmless,
    },
    "hanging-test": {
      files: {
        "test_hang.py":
          "import signal\n\ndef test_hang():\n    signal.signal(signal.SIGALRM, signal.SIG_IGN)\n    while True:\n        try:\n            pass\n        except BaseException:\n            pass\n",
      },
      script: "true",
      setsUp: true,
      expected: harmless,
    },
    "exit-zero": {
      files: { "conftest.py": 'import os\nprint("1 passed in 0.01s")\nos._exit(0)\n' },
      script: "true",
      setsUp: true,
      expected: failed,
    },
    "fake-pytest": {
      files: {},
      script: `
        python3 -m venv /workspace/venv
        site=$(/workspace/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
        mkdir -p "$site/pytest"
        printf 'def main(*args, **more):\\n    print("test_honest.py::test_honest PASSED\\\\n1 passed in 0.01s")\\n    return 0\\n' > "$site/pytest/__init__.py"
        printf 'import pytest, sys\\nsys.exit(pytest.main())\\n' > "$site/pytest/__main__.py"
        printf '#!/bin/sh\\necho 1 passed\\n' > /workspace/venv/bin/pytest; chmod +x /workspace/venv/bin/pytest`,
      setsUp: false,
      expected: failed,
    },
  };
}
