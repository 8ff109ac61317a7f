/** One cell; `range` is its interval, shown behind the text and the first thing to go when the table is too wide. */
export interface Cell {
  text: string;
  range?: string;
  style?: "strong" | "warning";
}

export interface TextTable {
  /** Text aligns left and may be shortened; numbers align right and are never cut. */
  columns: { name: string; align: "left" | "right" }[];
  rows: Cell[][];
}

export interface TextOptions {
  /** Columns of the terminal. */
  width?: number;
  /** Whether colour codes are wanted. */
  color?: boolean;
}

interface Width {
  text: number;
  range: number;
}

const STYLES = { strong: "1", warning: "33", dim: "2" };
const GAP = "  ";
const SHORTEST_TEXT = 8;

/**
 * Aligned plain-text columns within `width`: as they are; else without intervals; else with the widest text columns
 * shortened. A width too narrow even for that is exceeded rather than a number lost.
 */
export function renderTextTable(
  { columns, rows }: TextTable,
  { width = 100, color = false }: TextOptions = {},
): string {
  const whole = columns.map(({ name }, index) => widthOf(name, rows, index));
  const widths = total(whole) <= width ? whole : shorten({ columns, rows }, width);
  const paint = (text: string, style: keyof typeof STYLES | undefined) =>
    color && style !== undefined && text.trim() !== "" ? `\u001b[${STYLES[style]}m${text}\u001b[0m` : text;
  const head = columns.map(({ name, align }, index) => {
    const { text, range } = widths[index] ?? { text: 0, range: 0 };
    const room = range === 0 ? text : text + 1 + range;
    return paint(align === "left" ? name.padEnd(room) : name.padStart(room), "strong");
  });
  const body = rows.map((row) =>
    row.map((cell, index) => {
      const { text, range } = widths[index] ?? { text: 0, range: 0 };
      if (columns[index]?.align === "left") return paint(cut(cell.text, text).padEnd(text), cell.style);
      const number = paint(cell.text.padStart(text), cell.style);
      return range === 0 ? number : `${number} ${paint((cell.range ?? "").padEnd(range), "dim")}`;
    }),
  );
  return [head, ...body].map((cells) => cells.join(GAP).trimEnd()).join("\n");
}

function widthOf(name: string, rows: readonly Cell[][], index: number): Width {
  const longest = (part: (cell: Cell) => string) =>
    rows.reduce((most, row) => Math.max(most, row[index] === undefined ? 0 : part(row[index]).length), 0);
  const range = longest((cell) => cell.range ?? "");
  const text = longest((cell) => cell.text);
  return { text: Math.max(text, name.length - (range === 0 ? 0 : range + 1)), range };
}

function total(widths: readonly Width[]): number {
  const filled = widths.reduce((sum, { text, range }) => sum + text + (range === 0 ? 0 : range + 1), 0);
  return filled + GAP.length * Math.max(0, widths.length - 1);
}

function shorten({ columns, rows }: TextTable, width: number): Width[] {
  const bare = rows.map((row) => row.map((cell) => ({ text: cell.text })));
  const widths = columns.map(({ name }, index) => widthOf(name, bare, index));
  while (total(widths) > width) {
    const texts = widths.filter((_, index) => columns[index]?.align === "left");
    const widest = texts.reduce<Width | null>((a, b) => (a === null || b.text > a.text ? b : a), null);
    if (widest === null || widest.text <= SHORTEST_TEXT) break;
    widest.text -= 1;
  }
  return widths;
}

function cut(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text;
}
