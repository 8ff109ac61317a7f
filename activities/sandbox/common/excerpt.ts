import type { Output } from "../driver.ts";

/** The first `head` and last `tail` of `bytes` bytes, with a line between them that says how much is left out. */
export async function excerpt(
  bytes: number,
  size: { head: number; tail: number },
  part: (start: number, length: number) => Promise<Buffer>,
): Promise<Output> {
  if (bytes <= size.head + size.tail) return { text: (await part(0, bytes)).toString(), bytes, omitted: 0 };
  const omitted = bytes - size.head - size.tail;
  const head = wholeCharacters(await part(0, size.head));
  const tail = size.tail === 0 ? "" : wholeCharacters(await part(bytes - size.tail, size.tail));
  return {
    text: size.tail === 0 ? head : `${head}\n[… ${omitted} bytes left out …]\n${tail}`,
    bytes,
    omitted,
  };
}

/** Decodes UTF-8 without the halves of characters that a cut left at the ends. */
function wholeCharacters(bytes: Buffer): string {
  let start = 0;
  while (start < Math.min(3, bytes.length) && isContinuation(bytes[start])) start++;
  let end = bytes.length;
  let lead = end - 1;
  while (lead > Math.max(start, end - 4) && isContinuation(bytes[lead])) lead--;
  if (lead >= start && lead + characterLength(bytes[lead] ?? 0) > end) end = lead;
  return bytes.subarray(start, end).toString();
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function characterLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}
