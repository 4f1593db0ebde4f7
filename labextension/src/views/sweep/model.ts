import type { IEvent, ISweepTable } from '../../contract';
import { asAcaiError } from '../../core/connectionStore';
import type { AcaiError } from '../../core/errors';
import {
  Follower,
  type IEventListener,
  type IFollowing
} from '../../core/eventStreams';
import { isAbout } from '../../core/jobModel';
import { Retries } from '../../core/retries';
import { isLive } from '../../core/sweepTable';

/** Events that come close together are one reason to ask. */
const PAUSE_MS = 300;

/** Where a sweep is asked for, and where it is told of what happens. */
export interface ISweepSource {
  ask(): Promise<ISweepTable>;
  follow(listener: IEventListener): IFollowing;
}

/**
 * The jobs of a sweep. It asks when something happens to one of them, but only while somebody looks, and hears of events
 * until all have ended.
 */
export class SweepModel {
  constructor(
    private _table: ISweepTable,
    private readonly source: ISweepSource
  ) {
    this.isStale = isLive(_table);
  }

  get table(): ISweepTable {
    return this._table;
  }

  get error(): AcaiError | null {
    return this._error;
  }

  /** Whether the server has other jobs of that tag, as one that was set up anew. */
  get isOther(): boolean {
    return this._isOther;
  }

  /** Whether one of its jobs may still change by itself. */
  get isLive(): boolean {
    return isLive(this._table) && !this._isOther;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  private hear(event: IEvent): void {
    const isOurs =
      event.kind !== 'job_progressed' &&
      this._table.rows.some(({ job }) => isAbout(event, job));
    if (isOurs) {
      this.doubt();
    }
  }

  setSeen(isSeen: boolean): void {
    this.isSeen = isSeen;
    if (isSeen) {
      this.follower.want(this.isLive);
    }
    this.askSoon();
  }

  /** Nobody shows it any more. Safe to call twice. */
  dispose(): void {
    this.isSeen = false;
    this.follower.want(false);
    this.retries.dispose();
    clearTimeout(this.timer);
  }

  private doubt(): void {
    this.isStale = true;
    this.askSoon();
  }

  private askSoon(): void {
    const isNeeded = this.isSeen && this.isStale && !this._isOther;
    if (!isNeeded || this.timer !== undefined) {
      return;
    }
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.askNow();
    }, PAUSE_MS);
  }

  private async askNow(): Promise<void> {
    this.isStale = false;
    try {
      this.take(await this.source.ask());
      this._error = null;
      this.retries.rest();
    } catch (error) {
      this._error = asAcaiError(error);
      this.isStale = true;
    }
    if (!this.isLive) {
      this.follower.want(false);
    }
    for (const listener of [...this.listeners]) {
      listener();
    }
    if (this._error === null) {
      this.askSoon();
    } else if (this.isSeen) {
      this.retries.fail(this._error);
    }
  }

  private take(table: ISweepTable): void {
    const created = new Map(
      this._table.rows.map(row => [row.job, Date.parse(row.created_at)])
    );
    this._isOther = !table.rows.some(
      row => created.get(row.job) === Date.parse(row.created_at)
    );
    if (!this._isOther) {
      this._table = table;
    }
  }

  private readonly listeners = new Set<() => void>();
  private isSeen = false;
  private isStale: boolean;
  private _isOther = false;
  private readonly follower = new Follower(() =>
    this.source.follow({
      onEvent: event => {
        this.hear(event);
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
    this.askSoon();
  });
  private timer: ReturnType<typeof setTimeout> | undefined;
  private _error: AcaiError | null = null;
}
