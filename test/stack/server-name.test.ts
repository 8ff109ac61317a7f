import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { ownServerName } from "../../scripts/stack/server-name.ts";

test("a state folder's server keeps its name; another namespace or folder, even a copy, has another one", async (t) => {
  const root = await mkdtemp(join(tmpdir(), "setup-bench-name-"));
  const name = await ownServerName(join(root, "one"), "default");
  t.regex(name, /^own-[0-9a-f]{24}$/);
  t.is(await ownServerName(join(root, "one"), "default"), name);
  await cp(join(root, "one"), join(root, "copy"), { recursive: true });
  const others = [
    await ownServerName(join(root, "one"), "other"),
    await ownServerName(join(root, "copy"), "default"),
    await ownServerName(join(root, "two"), "default"),
  ];
  t.is(new Set([name, ...others]).size, 4);
  await rm(root, { recursive: true });
});
