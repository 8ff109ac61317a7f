import test from "ava";
import { CausedError } from "../../activities/errors.ts";
import { eventually, probe, type Subject, specOf, withSandbox } from "./subject.ts";

export function lifeContract(subject: Subject): void {
  const { name } = subject;

  test.serial(`${name}: creating the same id again gives the same sandbox`, async (t) => {
    const spec = await specOf(subject);
    const driver = subject.driver();
    try {
      const [first, second] = await Promise.all([driver.create(spec), driver.create(spec)]);
      t.deepEqual(first, second);
      await probe(driver, first).say("echo kept > /root/mark");
      const again = await driver.create(spec);
      t.is(await probe(driver, again).say("cat /root/mark"), "kept");
    } finally {
      await driver.destroy({ driver: driver.name, id: spec.id, host: "test" });
    }
  });

  test.serial(
    `${name}: a destroyed sandbox is lost, destroying it again is no error, its id is free again`,
    async (t) => {
      const driver = subject.driver();
      const spec = await specOf(subject);
      const ref = await driver.create(spec);
      await probe(driver, ref).say("touch /root/mark");
      await driver.destroy(ref);
      await driver.destroy(ref);
      const lost = await t.throwsAsync(probe(driver, ref).run("true"), { instanceOf: CausedError });
      t.is(lost?.failure, "sandbox_lost");
      const polled = await t.throwsAsync(driver.poll(ref, "any"), { instanceOf: CausedError });
      t.is(polled?.failure, "sandbox_lost");
      const fresh = await driver.create(spec);
      t.is((await probe(driver, fresh).run("test -e /root/mark")).ended.exit, 1);
      await driver.destroy(fresh);
    },
  );

  test.serial(`${name}: a sandbox is listed with its owner while it is there`, async (t) => {
    const owner = { server: "a-server", sweep: "s", run: "r/1", attempt: 3, workflow: "s/r/1" };
    await withSandbox(subject, { owner }, async ({ driver, ref }) => {
      const mine = (await driver.list()).find(({ sandbox }) => sandbox.id === ref.id);
      t.deepEqual(mine?.owner, owner);
      t.deepEqual(mine?.sandbox, ref);
      t.true(Math.abs(Date.parse(mine?.createdAt ?? "") - Date.now()) < 600_000);
      await driver.destroy(ref);
      t.false((await driver.list()).some(({ sandbox }) => sandbox.id === ref.id));
    });
  });

  test.serial(`${name}: an id with any characters is one sandbox of its own`, async (t) => {
    const driver = subject.driver();
    const ids = [`s/c ~ü/1-${process.pid}`, `s/c ~ü/2-${process.pid}`];
    const refs = await Promise.all(ids.map(async (id) => driver.create(await specOf(subject, { id }))));
    try {
      for (const ref of refs) await probe(driver, ref).say(`echo '${ref.id}' > /root/id`);
      for (const ref of refs) t.is(await probe(driver, ref).say("cat /root/id"), ref.id);
    } finally {
      for (const ref of refs) await driver.destroy(ref);
    }
  });

  test.serial(`${name}: a sandbox ends itself at its deadline`, async (t) => {
    await withSandbox(subject, { limits: { deadlineSeconds: 2 } }, async ({ driver, ref, start }) => {
      const id = await start("sleep 100");
      const error = await eventually(() =>
        driver.poll(ref, id).then(
          () => null,
          (error: unknown) => error,
        ),
      );
      t.is((error as CausedError).failure, "sandbox_lost");
      const spec = await specOf(subject, { id: ref.id });
      const again = await t.throwsAsync(driver.create(spec), { instanceOf: CausedError });
      t.is(again?.failure, "sandbox_lost");
    });
  });
}
