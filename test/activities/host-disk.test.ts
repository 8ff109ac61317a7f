import { tmpdir } from "node:os";
import test from "ava";
import { CausedError } from "../../activities/errors.ts";
import { refuseFullDisk } from "../../activities/host-disk.ts";

test("a failure on a machine whose disk is full is no set-up's, and counts for nothing", async (t) => {
  await t.notThrowsAsync(refuseFullDisk(tmpdir(), 1));
  const error = await t.throwsAsync(refuseFullDisk(tmpdir(), 2 ** 60), { instanceOf: CausedError });
  t.is(error?.failure, "capacity");
});
