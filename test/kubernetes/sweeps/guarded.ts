import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Where a guarded command reports to. */
export interface Address {
  host: string;
  port: number;
}

/**
 * Wraps a command: tells the gate (gate.ts) that it is inside, and goes on when the gate lets it. Fails when that command
 * has run before in the same sandbox, and when a second one of it comes while it runs.
 */
const INSIDE = ({ host, port }: Address) => `
import json, os, socket, sys, uuid

def inside(what):
    mark, name = f"/workspace/ran-{what}", "/workspace/sandbox-token"
    if not os.path.exists(name):
        with open(name, "w") as file:
            file.write(uuid.uuid4().hex)
    with open(mark, "a") as file:
        file.write("x")
    with socket.create_connection((${JSON.stringify(host)}, ${port}), 60) as line:
        line.settimeout(900)
        said = {"what": what, "ip": line.getsockname()[0], "sandbox": open(name).read()}
        line.sendall(json.dumps(said).encode() + b"\\n")
        answer = line.recv(1)
    if answer != b"g":
        sys.exit(f"{what}: the gate did not let it go on")
    if open(mark).read() != "x":
        sys.exit(f"{what} ran twice in one sandbox")

if __name__ == "__main__":
    inside(sys.argv[1])
`;

/** pip calls this in the middle of \`pip install .\`: nothing is to be downloaded, and the wheel is written by hand. */
const BACKEND = `
import base64, hashlib, os, zipfile
from inside import inside

def build_wheel(folder, config_settings=None, metadata_directory=None):
    inside("build")
    files = {
        "guarded.py": "answer = 42\\n",
        "guarded-1.dist-info/METADATA": "Metadata-Version: 2.1\\nName: guarded\\nVersion: 1\\n",
        "guarded-1.dist-info/WHEEL": "Wheel-Version: 1.0\\nGenerator: hand\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    digest = lambda text: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    record = [f"{name},sha256={digest(text)},{len(text)}\\n" for name, text in files.items()]
    files["guarded-1.dist-info/RECORD"] = "".join(record) + "guarded-1.dist-info/RECORD,,\\n"
    with zipfile.ZipFile(os.path.join(folder, "guarded-1-py3-none-any.whl"), "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return "guarded-1-py3-none-any.whl"
`;

const TEST = `
from inside import inside

def test_guarded():
    inside("tests")

def test_plain():
    pass
`;

const PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n';

const SCRIPT =
  "set -e\npython3 inside.py script\npython3 -m venv /workspace/venv\n/workspace/venv/bin/pip install -q pytest\n";

const TASKS = ["one", "two"];

/** What a sweep of guarded repositories has: each is set up by one long command (script) and by several (naive). */
export const CELLS = TASKS.length * 2;

/** Writes the suite into a folder and gives the words of the command line that sweep it. */
export async function writeGuarded(folder: string, address: Address): Promise<string[]> {
  const tasks = [];
  for (const id of TASKS) {
    const path = join(folder, "guarded", id);
    await mkdir(path, { recursive: true });
    await writeFile(join(path, "inside.py"), INSIDE(address));
    await writeFile(join(path, "backend.py"), BACKEND);
    await writeFile(join(path, "pyproject.toml"), PROJECT);
    await writeFile(join(path, "test_it.py"), TEST);
    tasks.push({ id, source: { kind: "directory", path } });
  }
  const [suite, script] = [join(folder, "guarded.json"), join(folder, "guarded.sh")];
  const title = "Guarded against running twice";
  await writeFile(suite, JSON.stringify({ suite: "guarded", title, source: "made by a test", tasks }));
  await writeFile(script, SCRIPT);
  const systems = ["--system", "script,naive", "--script", script];
  // The tests report as well.
  return ["--suite", suite, ...systems, "--parallel", `${CELLS}`, "--tests-network", "on"];
}
