const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/**
 * How long to wait before the next try, after `failures` in a row.
 *
 * Doubles up to half a minute; half of it is left to chance, so that all the pages of a server that restarts do not come
 * back in the same moment.
 */
export function backoff(failures: number, random: () => number): number {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** failures);
  return (ceiling * (1 + random())) / 2;
}
