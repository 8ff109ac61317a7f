import { CausedError } from "../errors.ts";
import { getText } from "./http.ts";
import type { Limits } from "./limits.ts";
import { type Address, mirrorAddress } from "./mirrors.ts";
import type { SourceOptions } from "./options.ts";

interface IndexFile {
  name: string;
  url: string;
  sha256: string | null;
}

const ACCEPT =
  "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1";

/**
 * The address of a release's file, from a package index's simple page of the project, as JSON (PEP 691) or HTML
 * (PEP 503). A project or file that is not listed is source_vanished; one listed with another sha256, source_mismatch.
 */
export async function findSdist(
  source: { name: string; file: string; sha256: string },
  options: SourceOptions,
  limits: Limits,
): Promise<Address> {
  const project = source.name.toLowerCase().replaceAll(/[-_.]+/g, "-");
  const page = mirrorAddress(`${options.index.replace(/\/+$/, "")}/${project}/`, options.mirrors);
  const what = `project ${source.name}`;
  const answer = await getText(page, what, limits, ACCEPT);
  const files = answer.contentType.includes("json")
    ? filesOfJson(answer.text, what)
    : filesOfHtml(answer.text);
  const file = files.find(({ name }) => name === source.file);
  if (file === undefined) throw new CausedError("source_vanished", `${source.file}: not in the index`);
  if (file.sha256 !== null && file.sha256 !== source.sha256) {
    const both = `the index has sha256 ${file.sha256}, the suite ${source.sha256}`;
    throw new CausedError("source_mismatch", `${source.file}: ${both}`);
  }
  return mirrorAddress(new URL(file.url, answer.url).href, options.mirrors);
}

function filesOfJson(text: string, what: string): IndexFile[] {
  try {
    const { files } = JSON.parse(text) as {
      files: { filename: string; url: string; hashes: { sha256?: string } }[];
    };
    return files.map(({ filename, url, hashes }) => ({ name: filename, url, sha256: hashes.sha256 ?? null }));
  } catch (error) {
    throw new CausedError("source_unavailable", `${what}: the index's page can't be read`, { cause: error });
  }
}

/** Anchors of a PEP 503 page. */
export function filesOfHtml(text: string): IndexFile[] {
  return [...text.matchAll(/<a\s[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)')[^>]*>\s*([^<]*?)\s*<\/a>/gi)].map(
    (match) => {
      const [href = "", hash = ""] = unescapeHtml(match[1] ?? match[2] ?? "").split("#", 2);
      return {
        name: unescapeHtml(match[3] ?? ""),
        url: href,
        sha256: /^sha256=([0-9a-f]{64})/.exec(hash)?.[1] ?? null,
      };
    },
  );
}

function unescapeHtml(text: string): string {
  const named: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"' };
  return text
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll(/&(lt|gt|quot|amp);/g, (_, name: string) => named[name] ?? "");
}
