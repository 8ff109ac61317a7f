import { oneLine } from "../format.ts";

/** Markup that is safe to put into a page as it is. Only `html` makes it, so that free text can't get in unescaped. */
export interface Html {
  readonly markup: string;
}

type Part = Html | readonly Html[] | string | number;

const ESCAPES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Template tag: what is written stays, what is put in is escaped (also inside quoted attributes) unless it is markup.
 * Free text comes from hostile repositories: control and direction-changing characters are taken out as well.
 */
export function html(written: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { markup: written.reduce((page, text, index) => page + show(parts[index - 1] ?? "") + text) };
}

function show(part: Part): string {
  if (typeof part === "number") return String(part);
  if (typeof part === "string")
    return oneLine(part).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
  return "markup" in part ? part.markup : part.map(({ markup }) => markup).join("");
}
