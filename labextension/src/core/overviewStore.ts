import type { ICosts, IEvent, IOverview } from '../contract';
import { asAcaiError } from './connectionStore';
import type { AcaiError } from './errors';
import { billedSince, lastAttempt, secondsBetween } from './jobText';

/** What the store asks of the server. */
export interface IOverviewSource {
  overview(): Promise<IOverview>;
  /** What was spent on jobs that were submitted since then. */
  costs(since: Date): Promise<ICosts>;
}

/** Events that come close together are one reason to ask, and so often is it asked at most. */
const PAUSE_MS = 1_000;

/**
 * A project's jobs at a glance, kept up to date by its events; whatever number of jobs changes, it asks once a second at
 * most, and not at all while nobody looks at the page.
 */
export class OverviewStore {
  constructor(
    private readonly source: IOverviewSource,
    private readonly now: () => Date = () => new Date()
  ) {}

  get overview(): IOverview | null {
    return this._overview;
  }

  /** What the jobs that were submitted since midnight have cost: as the server said, and what runs went on since. */
  costToday(now: Date): number | null {
    if (this._costToday === null) {
      return null;
    }
    const hours = secondsBetween(new Date(this.askedAt), now) / 3600;
    const midnight = midnightBefore(now);
    return (this._overview?.running ?? [])
      .filter(job => billedSince(job) && new Date(job.created_at) >= midnight)
      .reduce(
        (sum, job) => sum + hours * (lastAttempt(job)?.usd_per_hour ?? 0),
        this._costToday
      );
  }

  get error(): AcaiError | null {
    return this._error;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  hear(event: IEvent): void {
    if (event.kind.startsWith('job_') && event.kind !== 'job_progressed') {
      this.doubt();
    }
  }

  /** What is known may not hold any more. */
  doubt(): void {
    this.isStale = true;
    this.askSoon();
  }

  /** All that is known is of another project. */
  forget(): void {
    this.turn += 1;
    this._overview = null;
    this._costToday = null;
    this._error = null;
    this.tell();
    this.doubt();
  }

  /** Whether somebody looks at the page. */
  setSeen(isSeen: boolean): void {
    this.isSeen = isSeen;
    this.askSoon();
  }

  /** Safe to call twice. */
  dispose(): void {
    this.isSeen = false;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.listeners.clear();
  }

  private askSoon(): void {
    if (!this.isSeen || !this.isStale || this.timer !== undefined) {
      return;
    }
    const since = this.now().getTime() - this.askedAt;
    this.timer = setTimeout(
      () => {
        void this.ask().finally(() => {
          this.timer = undefined;
          this.askSoon();
        });
      },
      Math.max(0, PAUSE_MS - since)
    );
  }

  private async ask(): Promise<void> {
    const { turn } = this;
    this.isStale = false;
    this.askedAt = this.now().getTime();
    try {
      const [overview, costs] = await Promise.all([
        this.source.overview(),
        this.source.costs(midnightBefore(this.now()))
      ]);
      if (turn !== this.turn) {
        return; // what was asked is of the project before
      }
      this._overview = overview;
      this._costToday = costs.total.cost_usd;
      this._error = null;
    } catch (error) {
      if (turn !== this.turn) {
        return;
      }
      this._error = asAcaiError(error);
    }
    this.tell();
  }

  private tell(): void {
    for (const listener of [...this.listeners]) {
      listener();
    }
  }

  private readonly listeners = new Set<() => void>();
  private isSeen = false;
  /** Raised by each project. */
  private turn = 0;
  private isStale = true;
  private askedAt = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private _overview: IOverview | null = null;
  private _costToday: number | null = null;
  private _error: AcaiError | null = null;
}

function midnightBefore(moment: Date): Date {
  return new Date(moment.getFullYear(), moment.getMonth(), moment.getDate());
}
