import { InvalidArgumentError } from "commander";

/**
 * Parsers of option values. Each has bounds: what lies outside would be refused much later, by the kernel or by the
 * Temporal server, once for every cell.
 */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (!Number.isInteger(value)) throw new InvalidArgumentError(`It must be a whole number from ${least}.`);
    return within(value, least, most, String);
  };
}

export function number(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (!Number.isFinite(value)) throw new InvalidArgumentError("It must be a number.");
    return within(value, least, most, String);
  };
}

/** Bytes, written as 512M or 4G. */
export function size(least: number, most: number): (text: string) => number {
  return (text) => {
    const match = /^(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?$/i.exec(text.trim());
    if (match === null) throw new InvalidArgumentError("It must be a size such as 512M or 4G.");
    const power = UNITS.indexOf((match[2] ?? "").toUpperCase());
    return within(Math.round(Number(match[1]) * 1024 ** power), least, most, sizeText);
  };
}

const UNITS = ["", "K", "M", "G", "T"];

/** In the largest unit that gives a whole number. */
export function sizeText(bytes: number): string {
  const power = UNITS.findLastIndex((_, index) => bytes % 1024 ** index === 0);
  return `${bytes / 1024 ** power}${UNITS[power]}`;
}

function within(value: number, least: number, most: number, show: (value: number) => string): number {
  if (value >= least && value <= most) return value;
  throw new InvalidArgumentError(`It must be from ${show(least)} to ${show(most)}.`);
}
