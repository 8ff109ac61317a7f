/** init answered `error …`, or a word of its own instead of `ok`. */
export class Refused extends Error {
  readonly answer: string;
  constructor(request: string, answer: string) {
    super(`sandbox: ${request}: ${answer}`);
    this.answer = answer;
  }
}
