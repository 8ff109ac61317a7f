import { createHash } from "node:crypto";
import test from "ava";
import fc from "fast-check";
import { TransportFault } from "../../activities/sandbox/contained/engine.ts";
import { parseAnswer } from "../../activities/sandbox/contained/frame.ts";

function framed(status: string, body: Uint8Array): Buffer {
  const digest = createHash("sha256").update(body).digest("hex");
  return Buffer.concat([Buffer.from(`${status} ${body.length} ${digest}\n`), body]);
}

const bodies = fc.uint8Array({ maxLength: 300 });
const statuses = fc.constantFrom("ok", "refused", "failed");

test("a whole answer is read as it was written", (t) => {
  fc.assert(
    fc.property(statuses, bodies, (status, body) => {
      const answer = parseAnswer({ exit: 0, stdout: framed(status, body), stderr: "" });
      t.is(answer.status, status);
      t.true(answer.body.equals(body));
    }),
  );
});

test("an answer that was cut, lengthened or changed anywhere is a fault of the transport", (t) => {
  const damage = fc.oneof(
    fc.record({ kind: fc.constant("cut" as const), at: fc.nat() }),
    fc.record({ kind: fc.constant("more" as const), at: fc.nat() }),
    fc.record({ kind: fc.constant("flip" as const), at: fc.nat() }),
  );
  fc.assert(
    fc.property(statuses, bodies, damage, (status, body, { kind, at }) => {
      const whole = framed(status, body);
      const place = at % whole.length;
      const flipped = Buffer.from(whole);
      flipped[place] = (flipped[place] ?? 0) ^ 1;
      const stdout = {
        cut: whole.subarray(0, place),
        more: Buffer.concat([whole, Buffer.from("x")]),
        flip: flipped,
      }[kind];
      t.throws(() => parseAnswer({ exit: 0, stdout, stderr: "" }), { instanceOf: TransportFault });
    }),
  );
});
