import type { AuditInput, AuditOutput } from "../roles/audit.ts";

/** A unit was followed when one of its commands was run, or what it installs was installed. */
export function auditByRules({ units, after }: AuditInput): AuditOutput {
  return {
    verdicts: units.map(({ unit, commands }) => {
      const followed = after.findIndex(({ command }) => commands.some((wanted) => follows(command, wanted)));
      if (followed === -1) return { unit, verdict: "neutral", reason: "It was not followed." };
      const helped = after[followed]?.success === true;
      return helped
        ? { unit, verdict: "success", reason: "What it advises was done and succeeded." }
        : { unit, verdict: "failure", reason: "What it advises was done and failed." };
    }),
  };
}

/** The same command, or one that installs all that the wanted one installs. */
function follows(command: string, wanted: string): boolean {
  if (command.trim() === wanted.trim()) return true;
  const installs = installed(wanted);
  const words = new Set(command.split(/[\s'"]+/));
  return installs.length > 0 && installs.every((name) => words.has(name));
}

function installed(command: string): string[] {
  const [, rest] = /\binstall\b(.*)$/s.exec(command) ?? [];
  return (rest ?? "").split(/[\s'"]+/).filter((word) => word !== "" && !word.startsWith("-"));
}
