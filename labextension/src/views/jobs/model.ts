import type { IEvent, IFindThings, IFoundPage } from '../../contract';
import { asAcaiError } from '../../core/connectionStore';
import type { AcaiError } from '../../core/errors';
import {
  Follower,
  type IEventListener,
  type IFollowing
} from '../../core/eventStreams';
import { mayPass, Retries } from '../../core/retries';

/** Events that come close together are one reason to ask. */
const PAUSE_MS = 300;

/** Where jobs are asked for, and where it is told of what happens. */
export interface IJobsSource {
  find(request: IFindThings): Promise<IFoundPage>;
  follow(listener: IEventListener): IFollowing;
}

/** A list of jobs by a query. It asks again when jobs change, but only while somebody sees it. */
export class JobsModel {
  constructor(
    private request: IFindThings,
    private _page: IFoundPage,
    private readonly source: IJobsSource
  ) {}

  get page(): IFoundPage {
    return this._page;
  }

  get query(): string {
    return this.request.query ?? '';
  }

  get error(): AcaiError | null {
    return this.fault ?? this._error;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  private hear(event: IEvent): void {
    const isOfJobs =
      event.kind.startsWith('job_') && event.kind !== 'job_progressed';
    if (isOfJobs || event.kind === 'metadata_changed') {
      this.doubt();
    }
  }

  setSeen(isSeen: boolean): void {
    this.isSeen = isSeen;
    if (isSeen) {
      this.follower.want(true);
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

  /** Ask for others. What is wrong with the query is in `error`; those that were found before stay, and stay live. */
  async choose(query: string): Promise<void> {
    const asked = { ...this.request, query };
    this.chosen = asked;
    try {
      const page = await this.source.find(asked);
      if (asked === this.chosen) {
        this.request = asked;
        this._page = page;
        this.fault = this._error = null;
      }
    } catch (error) {
      if (asked === this.chosen) {
        this.refuse(asked, asAcaiError(error));
      }
    }
    this.tell();
  }

  /** A query that nobody understands is forgotten; one that was not answered is asked again. */
  private refuse(asked: IFindThings, error: AcaiError): void {
    if (mayPass(error)) {
      this.request = asked;
      this.fault = null;
      this.fail(error);
    } else {
      this.fault = error;
    }
  }

  private fail(error: AcaiError): void {
    this._error = error;
    this.isStale = true;
    if (this.isSeen) {
      this.retries.fail(error);
    }
  }

  private doubt(): void {
    this.isStale = true;
    this.askSoon();
  }

  private askSoon(): void {
    if (!this.isSeen || !this.isStale || this.timer !== undefined) {
      return;
    }
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.ask();
    }, PAUSE_MS);
  }

  private async ask(): Promise<void> {
    this.isStale = false;
    const asked = this.request;
    try {
      const page = await this.source.find(asked);
      if (asked === this.request) {
        this._page = page;
        this._error = null;
      }
      this.retries.rest();
      this.askSoon();
    } catch (error) {
      this.fail(asAcaiError(error));
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
  private isStale = true;
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
  private chosen: IFindThings | null = null;
  private fault: AcaiError | null = null;
  private _error: AcaiError | null = null;
}
