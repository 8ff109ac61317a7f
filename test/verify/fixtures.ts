/** Test repositories, as file name → content. */

export const VARIED = {
  "pytest.ini": "[pytest]\naddopts = --doctest-modules -x --maxfail=1\n",
  "module.py": 'def double(x):\n    """\n    >>> double(2)\n    4\n    """\n    return 2 * x\n',
  "test_varied.py": `
import sys, time, unittest
import pytest

def test_passes(): pass
def test_fails(): assert 1 == 2

@pytest.fixture
def broken(): raise ValueError("no")
@pytest.fixture
def broken_end():
    yield
    raise ValueError("no")

def test_setup_error(broken): pass
def test_teardown_error(broken_end): pass
@pytest.mark.skip(reason="not here")
def test_skipped(): pass
def test_skips_itself(): pytest.skip("not now")
@pytest.mark.xfail
def test_xfails(): assert False
@pytest.mark.xfail
def test_xpasses(): pass
@pytest.mark.xfail(strict=True)
def test_xpasses_strictly(): pass
@pytest.mark.parametrize("x", ["a b", "ü\\n\\t", "::", "[", "<&\\"'>", ""])
def test_odd(x): pass

class TestClass:
    @pytest.fixture(scope="class")
    def shared(self): return []
    def test_first(self, shared): shared.append(1)
    def test_second(self, shared): assert shared == [1]

class TestUnit(unittest.TestCase):
    def test_ok(self): pass
    def test_bad(self): self.fail("no")
    @unittest.skip("not here")
    def test_skip(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail("no")
    def test_sub(self):
        for i in range(3):
            with self.subTest(i=i): self.assertNotEqual(i, 1)

def test_sleeps(): time.sleep(60)
def test_sleeps_and_swallows():
    try: time.sleep(60)
    except Exception: pass
def test_after(): assert sys.argv[1:] == ["-q"] and not sys.path[0].endswith("pytest")
`,
};

const id = (name: string) => `test_varied.py::${name}`;

export const VARIED_OUTCOMES: Record<string, string> = {
  "module.py::module.double": "passed",
  [id("test_passes")]: "passed",
  [id("test_fails")]: "failed",
  [id("test_setup_error")]: "error",
  [id("test_teardown_error")]: "error",
  [id("test_skipped")]: "skipped",
  [id("test_skips_itself")]: "skipped",
  [id("test_xfails")]: "xfailed",
  [id("test_xpasses")]: "xpassed",
  [id("test_xpasses_strictly")]: "failed",
  [id("test_odd[a b]")]: "passed",
  [id("test_odd[\\xfc\\n\\t]")]: "passed",
  [id("test_odd[::]")]: "passed",
  [id("test_odd[[]")]: "passed",
  [id("test_odd[<&\"'>]")]: "passed",
  [id("test_odd[]")]: "passed",
  [id("TestClass::test_first")]: "passed",
  [id("TestClass::test_second")]: "passed",
  [id("TestUnit::test_ok")]: "passed",
  [id("TestUnit::test_bad")]: "failed",
  [id("TestUnit::test_skip")]: "skipped",
  [id("TestUnit::test_expected")]: "xfailed",
  [id("TestUnit::test_sub")]: "failed",
  [id("test_sleeps")]: "error",
  [id("test_sleeps_and_swallows")]: "error",
  [id("test_after")]: "passed",
};

export const PASSES = "def test_one(): pass\ndef test_two(): pass\n";
export const FAILS = "def test_one(): assert False\ndef test_two(): pass\n";
