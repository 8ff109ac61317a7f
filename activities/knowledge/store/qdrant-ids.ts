import { createHash } from "node:crypto";
import { UsageError } from "../../../benchmarks/usage-error.ts";

/** Qdrant takes numbers and UUIDs as ids: one that is always the same for a text. */
export function pointId(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}

/** The server and the collection of an address such as http://host:6333/name. Throws UsageError. */
export function addressOf(address: string): { url: string; collection: string } {
  const url = URL.canParse(address) ? new URL(address) : null;
  const [collection, ...rest] = url?.pathname.split("/").filter(Boolean).reverse() ?? [];
  if (url === null || collection === undefined || !/^[A-Za-z0-9._-]+$/.test(collection)) {
    throw new UsageError(`knowledge base ${address}: must be http://host:6333/collection`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new UsageError(`knowledge base ${url.host}: holds a password; use the variable QDRANT_API_KEY`);
  }
  url.pathname = rest.reverse().join("/");
  return { url: url.href.replace(/\/$/, ""), collection };
}
