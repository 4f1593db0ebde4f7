import type { ISweepTable } from '../contract';

/** What a notebook keeps of a sweep: its jobs as they stood, and how many there are. */
export interface ISweepSnapshot {
  project: string;
  count: number;
  table: ISweepTable;
}

/** A notebook can have been written by anybody: what is no snapshot is refused, and its text stays. */
export function readSweep(data: unknown): ISweepSnapshot {
  const found = data as Partial<ISweepSnapshot> | null | undefined;
  if (
    typeof found?.project !== 'string' ||
    typeof found.count !== 'number' ||
    typeof found.table?.tag !== 'string' ||
    !Array.isArray(found.table.rows) ||
    !Array.isArray(found.table.parameters) ||
    !Array.isArray(found.table.metrics)
  ) {
    throw new TypeError('This is no sweep.');
  }
  return found as ISweepSnapshot;
}

/** Whether two snapshots are of one sweep, however it stood. */
export function isSameSweep(
  one: ISweepSnapshot,
  other: ISweepSnapshot
): boolean {
  return (
    one.project === other.project &&
    one.table.tag === other.table.tag &&
    one.table.rows[0]?.created_at === other.table.rows[0]?.created_at
  );
}
