import type { IFound, IJob } from '../contract';
import { isGiven } from './given';
import type { JobPages } from './jobPages';
import { billedSince, costOf, currentAttempt, secondsBetween } from './jobText';

const BILLED = 'billed_seconds';
const COST = 'cost_usd';
/** Those that are paid for. */
const STATES = ['downloading', 'running', 'uploading'];

/** For how long jobs that run are billed, and what they cost, until now. Lists have only what attempts ended with. */
export class RunningJobs {
  constructor(
    /** Jobs that run, the newest first, as many as are told at once. */
    private readonly read: () => Promise<readonly IJob[]>
  ) {}

  /** Ask for those of the list that are not known yet, all by one question. Tells whether any of the list run. */
  look(pages: JobPages): Promise<boolean> {
    this.looked = this.looked.then(
      () => this.lookNow(pages),
      () => this.lookNow(pages)
    );
    return this.looked;
  }

  /** What stands in a column until the job has ended; null where there is nothing to say. */
  soFar(
    pages: JobPages,
    row: IFound,
    column: string,
    now: Date
  ): number | null {
    const job = this.known.get(keyOf(pages, row));
    if (!isGiven(job) || !isRunning(pages, row)) {
      return null;
    }
    return column === BILLED
      ? billedSoFar(job, now)
      : column === COST
        ? costSoFar(job, now)
        : null;
  }

  private async lookNow(pages: JobPages): Promise<boolean> {
    const { columns } = pages.shownListing;
    if (!columns.includes(BILLED) && !columns.includes(COST)) {
      return false;
    }
    const running = pages.rows.filter(row => isRunning(pages, row));
    const asked = running.map(row => keyOf(pages, row));
    if (asked.some(key => !this.known.has(key))) {
      const jobs = await this.read();
      this.known.clear();
      for (const key of asked) {
        this.known.set(key, null);
      }
      for (const job of jobs) {
        this.known.set(`${job.number}/${job.attempts.length}`, job);
      }
    }
    return running.length > 0;
  }

  /** One question at a time. */
  private looked: Promise<boolean> = Promise.resolve(false);
  private readonly known = new Map<string, IJob | null>();
}

function isRunning(pages: JobPages, row: IFound): boolean {
  const state = pages.valueOf(row, 'state');
  return typeof state === 'string' && STATES.includes(state);
}

/** A job that is tried again is another to what is known of it. */
function keyOf(pages: JobPages, row: IFound): string {
  const attempts = pages.valueOf(row, 'attempts');
  return `${row.thing}/${typeof attempts === 'number' ? attempts : 0}`;
}

function billedSoFar(job: IJob, now: Date): number | null {
  const since = billedSince(job);
  const before = job.attempts.map(one => one.billed_seconds ?? 0);
  return since === null
    ? null
    : before.reduce((a, b) => a + b, Math.floor(secondsBetween(since, now)));
}

function costSoFar(job: IJob, now: Date): number | null {
  const since = billedSince(job);
  const price = currentAttempt(job)?.usd_per_hour;
  return since === null || !isGiven(price)
    ? null
    : (costOf(job) ?? 0) + (price * secondsBetween(since, now)) / 3600;
}
