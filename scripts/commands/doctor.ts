import type { CommonOptions } from "../cli/options.ts";
export async function doctorCommand(_options: CommonOptions, _fix: boolean): Promise<number> {
  return 0;
}
