/**
 * The user's input is wrong: a file, a key, a name. The message is one line that names all of it and the remedy;
 * the command line prints it without a stack and exits with code 2.
 */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
