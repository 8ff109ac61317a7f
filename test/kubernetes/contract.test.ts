import test from "ava";
import { contract } from "../sandbox/contract.ts";
import { testNamespace } from "../support/cluster.ts";

const subject = await testNamespace();

if (subject === null) test.skip("contract: there is no cluster", () => {});
else {
  const driver = subject.driver({ image: (await subject.base()).location });
  const capabilities = await driver.capabilities();
  test.after.always(() => subject.remove());
  contract({ name: "kubernetes", driver: () => driver, base: subject.base, capabilities });
}
