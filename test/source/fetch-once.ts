import { CausedError } from "../../activities/errors.ts";
import { fetchSource } from "../../activities/source/fetch.ts";

/** Run as a process of its own: fetches the source given as JSON and prints what came of it. */
const [source, options] = process.argv.slice(2).map((text) => JSON.parse(text));
try {
  const { digest, cached } = await fetchSource(source, options);
  console.log(JSON.stringify({ digest, cached }));
} catch (error) {
  if (!(error instanceof CausedError)) throw error;
  console.log(JSON.stringify({ failure: error.failure }));
}
