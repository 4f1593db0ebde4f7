import type { ISweepTable } from '../contract';
import { isListOf, isNumber, isObject, isText } from './shapes';

/** What a notebook keeps of a sweep: its jobs as they stood, and how many there are. */
export interface ISweepSnapshot {
  project: string;
  count: number;
  table: ISweepTable;
}

/** A notebook can have been written by anybody, also by a later version: what is no snapshot is refused, and its text stays. */
export function readSweep(data: unknown): ISweepSnapshot {
  const isOne =
    isObject(data) &&
    isText(data.project) &&
    isNumber(data.count) &&
    isTable(data.table);
  if (!isOne) {
    throw new TypeError('This is no sweep.');
  }
  return data as unknown as ISweepSnapshot;
}

function isTable(table: unknown): boolean {
  return (
    isObject(table) &&
    isText(table.tag) &&
    isListOf(table.parameters, isText) &&
    isListOf(table.metrics, isText) &&
    isListOf(table.rows, isRow)
  );
}

function isRow(row: unknown): boolean {
  return (
    isObject(row) &&
    isNumber(row.job) &&
    isText(row.state) &&
    isText(row.created_at) &&
    isObject(row.parameters) &&
    isObject(row.attributes)
  );
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
