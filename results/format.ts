/** What stands for "not measured" wherever people read. */
export const NOT_MEASURED = "–";

/** A fraction 0–1 as percent with one decimal. */
export function percent(fraction: number | null): string {
  return fraction === null ? NOT_MEASURED : (fraction * 100).toFixed(1);
}

/**
 * The ends of an interval of fractions, in whole percent, or with a decimal where whole percent would seem to leave out
 * the value shown beside them; empty when unknown.
 */
export function percentRange(value: number | null, low: number | null, high: number | null): string {
  if (value === null || low === null || high === null) return "";
  const holds = Math.round(low * 100) <= value * 100 && value * 100 <= Math.round(high * 100);
  const digits = holds && Math.round(low * 100) !== Math.round(high * 100) ? 0 : 1;
  return `${(low * 100).toFixed(digits)}–${(high * 100).toFixed(digits)}`;
}

/** Seconds in the largest two units that matter. */
export function duration(seconds: number | null): string {
  if (seconds === null) return NOT_MEASURED;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const pad = (value: number) => String(value).padStart(2, "0");
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${pad(whole % 60)}s`;
  const minutes = Math.round(whole / 60);
  return `${Math.floor(minutes / 60)}h ${pad(minutes % 60)}m`;
}

/** A count in thousands or millions once it is long. */
export function amount(value: number | null): string {
  if (value === null) return NOT_MEASURED;
  if (Math.abs(value) >= 1e6) return `${(value / 1e6).toFixed(1)}M`;
  if (Math.abs(value) >= 1e4) return `${(value / 1e3).toFixed(1)}K`;
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}

/** `1 cell`, `2 cells`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Free text on one line of a terminal: control characters (escape sequences too) can't reach it. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");
}
