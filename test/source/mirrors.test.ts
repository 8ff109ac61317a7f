import test from "ava";
import fc from "fast-check";
import { fetchSource } from "../../activities/source/fetch.ts";
import { tagsAt } from "../../activities/source/git.ts";
import { mirrorAddress, redact } from "../../activities/source/mirrors.ts";
import { submoduleUrl } from "../../activities/source/submodules.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { gitSource } from "./support.ts";

test("The first rule that matches wins, and may name groups", (t) => {
  const rules = [
    { match: "^https://github\\.com/([^/]+)/", replace: "https://mirror.example/$1--" },
    { match: "^https://github\\.com/", replace: "https://never.example/" },
    { match: "pypi", replace: "index" },
  ];
  t.deepEqual(mirrorAddress("https://github.com/a/b", rules), {
    url: "https://mirror.example/a--b",
    mirrored: true,
  });
  t.deepEqual(mirrorAddress("https://pypi.org/simple", rules), {
    url: "https://index.org/simple",
    mirrored: true,
  });
  t.deepEqual(mirrorAddress("https://x.example", rules), { url: "https://x.example", mirrored: false });
});

test("A path becomes a file address", (t) => {
  const rules = [{ match: "^https://github\\.com", replace: "/srv/git mirror" }];
  t.is(mirrorAddress("https://github.com/a/b", rules).url, "file:///srv/git%20mirror/a/b");
});

test("A rule that is no regular expression is named in one line, before anything is fetched", async (t) => {
  const mirrors = [
    { match: "a", replace: "b" },
    { match: "(", replace: "" },
  ];
  const source = gitSource("a", "a".repeat(40));
  const error = await t.throwsAsync(fetchSource(source, { stateFolder: "/nonexistent", mirrors }), {
    instanceOf: UsageError,
  });
  t.regex(error?.message ?? "", /^mirrors\[1\]\.match: .*; write a JavaScript regular expression$/);
});

test("No name and password survive redaction", (t) => {
  const word = fc.stringMatching(/^[a-z0-9%._~-]{1,12}$/);
  fc.assert(
    fc.property(word, word, fc.constantFrom("https", "http", "ssh"), (name, password, scheme) => {
      return redact(`${scheme}://${name}:${password}@host.example/a/b`) === `${scheme}://host.example/a/b`;
    }),
  );
  t.is(redact("https://host.example/a@b"), "https://host.example/a@b");
});

test("Addresses of submodules: relative, over ssh, and what is not followed", (t) => {
  const cases: [string, string | null][] = [
    ["../sub.git", "https://code.example/acme/sub.git"],
    ["../../other/sub", "https://code.example/other/sub"],
    ["./sub", "https://code.example/acme/top/sub"],
    ["https://else.example/sub", "https://else.example/sub"],
    ["git@code.example:acme/sub.git", "https://code.example/acme/sub.git"],
    ["ssh://git@code.example:2222/acme/sub", "https://code.example/acme/sub"],
    ["git://code.example/acme/sub", "https://code.example/acme/sub"],
    ["/etc", null],
    ["file:///etc", null],
    ["ext::sh -c id", null],
    ["--upload-pack=id", null],
    ["", null],
  ];
  for (const [url, expected] of cases)
    t.is(submoduleUrl(url, "https://code.example/acme/top"), expected, url);
});

test("Tags at a commit: plain and annotated ones, sorted, not those of other commits or with odd names", (t) => {
  const [at, other, tag] = ["a".repeat(40), "b".repeat(40), "c".repeat(40)];
  const listing = [
    `${at}\trefs/tags/plain`,
    `${tag}\trefs/tags/noted`,
    `${at}\trefs/tags/noted^{}`,
    `${other}\trefs/tags/else`,
    `${at}\trefs/tags/odd name`,
    `${at}\trefs/heads/main`,
    "",
  ].join("\n");
  t.deepEqual(tagsAt(listing, at), [
    { name: "refs/tags/noted", object: tag },
    { name: "refs/tags/plain", object: at },
  ]);
});
