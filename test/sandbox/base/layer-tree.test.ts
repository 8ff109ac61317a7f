import test from "ava";
import fc from "fast-check";
import { cleanPath, layerTree } from "../../../activities/sandbox/base/layer-tree.ts";

type Part = { name: string; type?: string; linkname?: string };

function paths(...layers: Part[][]): string[] {
  const tree = layerTree();
  for (const layer of layers) tree.add(layer.map((header, index) => ({ header, index })));
  return tree
    .survivors()
    .map((entry) => `${entry.path}@${entry.layer}`)
    .sort();
}

const folder = (name: string): Part => ({ name: `${name}/`, type: "directory" });
const file = (name: string): Part => ({ name });

test("a later layer's file takes the place of an earlier one's", (t) => {
  t.deepEqual(paths([file("a"), file("b")], [file("./a")]), ["a@1", "b@0"]);
});

test("a whiteout removes a file or a whole folder of the layers below", (t) => {
  t.deepEqual(paths([folder("d"), file("d/x"), file("e")], [file(".wh.d"), file(".wh.e")]), []);
});

test("a whiteout does not touch its own layer, wherever it stands in it", (t) => {
  t.deepEqual(paths([file("a")], [file("a"), file(".wh.a")]), ["a@1"]);
});

test("an opaque whiteout empties the folder below but keeps what its own layer puts there", (t) => {
  const upper = [folder("d"), file("d/new"), file("d/.wh..wh..opq")];
  t.deepEqual(paths([folder("d"), file("d/old"), file("o")], upper), ["d/new@1", "d@1", "o@0"]);
});

test("a folder laid over a folder keeps its content; anything else replaces it", (t) => {
  t.deepEqual(paths([folder("d"), file("d/x")], [folder("d")]), ["d/x@0", "d@1"]);
  t.deepEqual(paths([folder("d"), file("d/x")], [file("d")]), ["d@1"]);
  t.deepEqual(paths([file("d")], [folder("d"), file("d/x")]), ["d/x@1", "d@1"]);
  t.deepEqual(paths([file("d")], [file("d/x")]), ["d/x@1"]);
});

test("a link to a folder stays when a later layer puts something into it", (t) => {
  t.deepEqual(paths([{ name: "lib", type: "symlink", linkname: "usr/lib" }], [file("lib/x")]), [
    "lib/x@1",
    "lib@0",
  ]);
});

test("a hard link knows the file with the content, through links and layers", (t) => {
  const tree = layerTree();
  const layers: Part[][] = [
    [file("a"), { name: "b", type: "link", linkname: "./a" }],
    [{ name: "c", type: "link", linkname: "b" }],
  ];
  for (const layer of layers) tree.add(layer.map((header, index) => ({ header, index })));
  const targets = tree.survivors().map((entry) => [entry.path, entry.target?.path ?? null]);
  t.deepEqual(targets.sort(), [
    ["a", null],
    ["b", "a"],
    ["c", "a"],
  ]);
});

test("a hard link to nothing and a path out of the root are refused", (t) => {
  t.throws(() => paths([{ name: "b", type: "link", linkname: "a" }]), { message: /hard link b leads to a/ });
  t.throws(() => cleanPath("a/../../etc/passwd"), { message: /outside its root/ });
});

test("layers of files make what a map with the same writes and removals makes", (t) => {
  const name = fc.constantFrom("a", "b", "d/a", "d/b", "d/e/a");
  const layer = fc.uniqueArray(fc.record({ name, gone: fc.boolean() }), { selector: (part) => part.name });
  fc.assert(
    fc.property(fc.array(layer, { maxLength: 5 }), (layers) => {
      const expected = new Map<string, number>();
      for (const [number, parts] of layers.entries()) {
        for (const part of parts) if (part.gone) expected.delete(part.name);
        for (const part of parts) if (!part.gone) expected.set(part.name, number);
      }
      const written = layers.map((parts) =>
        parts.map(({ name: path, gone }) => file(gone ? path.replace(/([^/]+)$/, ".wh.$1") : path)),
      );
      t.deepEqual(paths(...written), [...expected].map(([path, number]) => `${path}@${number}`).sort());
    }),
  );
});
