import type { IEvent, IJob, ITransfer } from '../contract';
import type { AcaiError } from './errors';
import { asAcaiError } from './connectionStore';
import { Follower, type IEventListener, type IFollowing } from './eventStreams';
import { currentAttempt, hasEnded, lastAttempt } from './jobText';
import { Retries } from './retries';

export type Sample = [number, number, number, number, number];

/** What a notebook keeps of a job: which one it is, and how it stood. */
export interface IJobSnapshot {
  project: string;
  number: number;
  created_at: string;
  /** The cell shows the log itself. */
  log_is_below?: boolean;
  /** What else was said in the cell. */
  notes?: string[];
  job: IJob;
}

/** The details of the event `job_progressed`. */
interface IProgress {
  attempt: number;
  log_bytes: number;
  samples: Sample[];
  transfer: ITransfer | null;
}

/** Whether the server's job of that number is the one that the notebook speaks of; `refused` is not for this user to see. */
export type Identity = 'unasked' | 'same' | 'other' | 'gone' | 'refused';

/** Where a job is asked for, and where it is told of what happens. */
export interface IJobSource {
  ask(project: string, number: number): Promise<IJob>;
  follow(project: string, listener: IEventListener): IFollowing;
}

/**
 * One job of a page, whatever the number of its views. It asks the server only while somebody looks at it, and of a job
 * that has ended only when somebody wants to know more. It hears of events from when it was first looked at to its end.
 */
export class JobModel {
  constructor(
    snapshot: IJobSnapshot,
    private readonly source: IJobSource
  ) {
    this.project = snapshot.project;
    this.number = snapshot.number;
    this.createdAt = snapshot.created_at;
    this._job = snapshot.job;
    this.takeSamples();
  }

  get job(): IJob {
    return this._job;
  }

  get samples(): readonly Sample[] {
    return this._samples;
  }

  get transfer(): ITransfer | null {
    const transfer = this._transfer;
    return transfer?.state === this._job.state ? transfer : null;
  }

  get logBytes(): number {
    return Math.max(this._logBytes, lastAttempt(this._job)?.log_bytes ?? 0);
  }

  get identity(): Identity {
    return this._identity;
  }

  /** Why the last question was not answered; the job is as it was when it could be asked. */
  get error(): AcaiError | null {
    return this._error;
  }

  get isLive(): boolean {
    return !hasEnded(this._job) && this.isThere;
  }

  /** Whether the server has it, as far as is known. */
  get isThere(): boolean {
    return this._identity === 'unasked' || this._identity === 'same';
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  /** A view of it can be seen from now on. Returns what to call when it cannot be any more. */
  look(): () => void {
    this.watchers += 1;
    this.follower.want(this.isLive);
    if (this.isStale && this.isLive) {
      void this.refresh();
    }
    return () => {
      this.watchers -= 1;
    };
  }

  /** Nobody shows it any more. */
  dispose(): void {
    this.follower.want(false);
    this.retries.dispose();
  }

  private hear(event: IEvent): void {
    if (event.kind === 'job_progressed') {
      this.progress(event.details as unknown as IProgress);
    } else {
      this.doubt();
    }
  }

  /** What is known may not hold any more. */
  doubt(): void {
    this.isStale = true;
    if (this.watchers > 0 && this.isLive) {
      void this.refresh();
    }
  }

  /** Ask the server; once more if something was said meanwhile, or later if it did not answer. Never rejects. */
  refresh(): Promise<void> {
    this.isStale = true;
    this.pending ??= this.askWhileStale().finally(() => {
      this.pending = null;
    });
    return this.pending;
  }

  /** Take what the server has answered to something else. */
  accept(job: IJob): void {
    if (this._identity !== 'other') {
      this._identity = 'same';
    }
    this._job = job;
    this._error = null;
    this.takeSamples();
    this.tell();
  }

  private async askWhileStale(): Promise<void> {
    while (this.isStale) {
      this.isStale = false;
      try {
        const job = await this.source.ask(this.project, this.number);
        this.retries.rest();
        this.check(job);
      } catch (error) {
        this.isStale = true;
        this.fail(asAcaiError(error));
        return;
      }
    }
  }

  private check(job: IJob): void {
    if (
      new Date(job.created_at).getTime() === new Date(this.createdAt).getTime()
    ) {
      this.accept(job);
    } else {
      this._identity = 'other';
      this.tell();
    }
  }

  private fail(error: AcaiError): void {
    if (error.code === 'job_not_found') {
      this._identity = 'gone';
    } else {
      this._error = error;
    }
    if (isRefusal(error)) {
      this._identity = 'refused';
    }
    if (this.isThere && this.watchers > 0) {
      this.retries.fail(error);
    }
    this.tell();
  }

  private progress(told: IProgress): void {
    if (told.attempt !== currentAttempt(this._job)?.number) {
      this.doubt();
      return;
    }
    this._logBytes = told.log_bytes;
    this._transfer = told.transfer;
    this._samples = [...this._samples, ...told.samples].slice(-MOST_SAMPLES);
    this.tell();
  }

  private takeSamples(): void {
    const current = currentAttempt(this._job);
    this._logBytes = lastAttempt(this._job)?.log_bytes ?? 0;
    this._samples = current?.usage?.samples ?? [];
    this._transfer = current?.transfer ?? null;
  }

  private tell(): void {
    if (!this.isLive) {
      this.follower.want(false);
    }
    for (const listener of [...this.listeners]) {
      listener();
    }
  }

  private readonly project: string;
  private readonly number: number;
  private readonly createdAt: string;
  private readonly follower = new Follower(() =>
    this.source.follow(this.project, {
      onEvent: event => {
        if (isAbout(event, this.number)) {
          this.hear(event);
        }
      },
      onReload: () => {
        this.doubt();
      },
      onState: state => {
        this.retries.hear(state);
      }
    })
  );
  private readonly retries = new Retries(() => {
    if (this.watchers > 0 && this.isThere) {
      void this.refresh();
    }
  });
  private readonly listeners = new Set<() => void>();
  private watchers = 0;
  private isStale = true;
  private pending: Promise<void> | null = null;
  private _job: IJob;
  private _samples: readonly Sample[] = [];
  private _transfer: ITransfer | null = null;
  private _logBytes = 0;
  private _identity: Identity = 'unasked';
  private _error: AcaiError | null = null;
}

const MOST_SAMPLES = 500;

/** Whether who looks may not see it, or its project is none; a page that is signed out is another matter. */
function isRefusal(error: AcaiError): boolean {
  return (
    (error.status === 403 || error.status === 404) &&
    error.code !== 'job_not_found' &&
    error.code !== 'unexpected_answer'
  );
}

/** Whether an event tells of a job. */
export function isAbout(event: IEvent, number: number): boolean {
  // eslint-disable-next-line acai/untranslated -- as events name it
  const name = `job ${number}`;
  if (event.subject === name) {
    return true;
  }
  const things = event.details?.things;
  return (
    event.kind === 'metadata_changed' &&
    Array.isArray(things) &&
    things.some(thing => String(thing) === name || thing === String(number))
  );
}
