import type { IJobSnapshot } from './jobModel';

/** A notebook can have been written by anybody: what is no snapshot is refused, and its text stays. */
export function readSnapshot(data: unknown): IJobSnapshot {
  const found = data as Partial<IJobSnapshot> | null | undefined;
  if (
    typeof found?.number !== 'number' ||
    typeof found.project !== 'string' ||
    typeof found.created_at !== 'string' ||
    !Array.isArray(found.job?.attempts) ||
    !Array.isArray(found.job.inputs)
  ) {
    throw new TypeError('This is no job.');
  }
  return found as IJobSnapshot;
}

/** Whether two snapshots are of one job, however it stood. */
export function isSame(one: IJobSnapshot, other: IJobSnapshot): boolean {
  return (
    one.project === other.project &&
    one.number === other.number &&
    one.created_at === other.created_at
  );
}
