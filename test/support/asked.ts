import { channel } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";

/** One kind of call as RBAC sees it: `pods/exec get`. */
export type Asked = Set<string>;

interface UndiciRequest {
  method: string;
  path: string;
  headers: unknown;
}

/**
 * Notes what the holder of a token asks of the API server while `work` runs, whichever client it uses: Node itself tells
 * of every request. Only namespaced calls of the core API are looked at; another one is noted by its path.
 */
export async function askedWith(token: string, work: () => Promise<void>): Promise<Asked> {
  const asked: Asked = new Set();
  const plain = (message: unknown) => {
    const { request } = message as { request: UndiciRequest };
    if (JSON.stringify(request.headers).includes(token)) asked.add(described(request.method, request.path));
  };
  const sockets = (message: unknown) => {
    const { request } = message as { request: ClientRequest };
    if (String(request.getHeader("authorization")).includes(token)) {
      asked.add(described(request.method, request.path));
    }
  };
  const channels = [
    { name: "undici:request:create", note: plain },
    { name: "http.client.request.start", note: sockets },
  ];
  for (const { name, note } of channels) channel(name).subscribe(note);
  try {
    await work();
  } finally {
    for (const { name, note } of channels) channel(name).unsubscribe(note);
  }
  return asked;
}

/** A request's resource and verb, by the API server's own rules. */
export function described(method: string, path: string): string {
  const url = new URL(path, "http://server");
  const [, resource, name, sub] =
    /^\/api\/v1\/namespaces\/[^/]+\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?$/.exec(url.pathname) ?? [];
  if (resource === undefined) return `${method} ${url.pathname}`;
  const isWatch = url.searchParams.get("watch") === "true";
  const verbs: Record<string, string> = {
    GET: isWatch ? "watch" : name === undefined ? "list" : "get",
    POST: "create",
    PUT: "update",
    PATCH: "patch",
    DELETE: name === undefined ? "deletecollection" : "delete",
  };
  return `${sub === undefined ? resource : `${resource}/${sub}`} ${verbs[method] ?? method}`;
}
