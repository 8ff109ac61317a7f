import { statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { UsageError } from "../../../benchmarks/usage-error.ts";

/** Where a base root file system comes from. Paths are absolute. */
export type BaseRequest =
  /** Debian made by mmdebstrap (recipe in debian.ts). */
  | { kind: "debian" }
  /** An image of a registry, as `docker pull` names it. */
  | { kind: "image"; reference: string }
  /** An OCI image layout: a folder, or a tar of it. */
  | { kind: "oci"; path: string; name: string | null }
  /** What `docker save` writes. */
  | { kind: "docker-archive"; path: string; name: string | null }
  /** A root file system as a folder. */
  | { kind: "directory"; path: string }
  /** A root file system as a tar, plain or compressed with gzip, xz or zstd. */
  | { kind: "tar"; path: string };

export const DEFAULT_BASE = "debian";

const FORMS =
  "debian, a folder, a tar file (.tar, .tar.gz, .tar.xz, .tar.zst), oci:PATH[:NAME], docker-archive:PATH[:NAME] or an image like python:3.12-bookworm";
const IMAGE =
  /^(?:(?=[^/]*[.:]|localhost)[a-z0-9.-]+(?::\d+)?\/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/;

/**
 * Reads what the user gave as `--base`: `debian`, a path, `oci:`, `oci-archive:`, `docker-archive:`, or an image.
 * A path that exists wins over an image of the same name; `docker://` says image without doubt.
 * Throws UsageError on anything else.
 */
export function parseBaseRequest(text: string): BaseRequest {
  const trimmed = text.trim();
  if (trimmed === DEFAULT_BASE) return { kind: "debian" };
  const [, scheme, rest] = /^(oci|oci-archive|docker-archive|docker):(?:\/\/)?(.+)$/.exec(trimmed) ?? [];
  if (scheme !== undefined && rest !== undefined) return parseSchemed(trimmed, scheme, rest);
  const path = resolve(trimmed.replace(/^~(?=\/|$)/, homedir()));
  const kind = trimmed === "" ? null : fileKind(path);
  if (kind === "directory") {
    const isLayout = fileKind(join(path, "oci-layout")) === "file";
    return isLayout ? { kind: "oci", path, name: null } : { kind: "directory", path };
  }
  if (kind === "file") return { kind: "tar", path };
  if (/^[./~]/.test(trimmed) || /\.(tar|tgz|txz|tar\.\w+)$/.test(trimmed)) {
    throw new UsageError(`base: ${path} does not exist. Remedy: give ${FORMS}`);
  }
  return image(trimmed, trimmed);
}

function parseSchemed(text: string, scheme: string, rest: string): BaseRequest {
  // `docker:27-cli` is the image called docker; the transport is written `docker://`.
  if (scheme === "docker") return image(text, text.startsWith("docker://") ? rest : text);
  const kind = scheme === "docker-archive" ? "docker-archive" : "oci";
  const whole = resolve(rest);
  if (fileKind(whole) !== null) return { kind, path: whole, name: null };
  const colon = rest.indexOf(":");
  const path = resolve(colon > 0 ? rest.slice(0, colon) : rest);
  if (colon > 0 && fileKind(path) !== null) return { kind, path, name: rest.slice(colon + 1) };
  throw new UsageError(`base: ${path} (of "${text}") does not exist. Remedy: give ${FORMS}`);
}

function image(text: string, reference: string): BaseRequest {
  if (IMAGE.test(reference)) return { kind: "image", reference };
  throw new UsageError(`base: "${text}" is neither a path nor an image name. Remedy: give ${FORMS}`);
}

function fileKind(path: string): "file" | "directory" | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  return stats.isDirectory() ? "directory" : "file";
}
