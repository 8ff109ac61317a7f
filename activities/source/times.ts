/** Seconds. The time of folders and the earliest of files: zip files, and so wheels, can't hold older ones. */
export const EARLIEST = Date.UTC(1980, 0, 2) / 1000;
const LATEST = Date.UTC(2100, 0, 1) / 1000;

export function clampTime(seconds: number): number {
  return Math.min(Math.max(Math.floor(seconds), EARLIEST), LATEST);
}
