import type { IEvent, IJob } from '../contract';
import { describeJob } from './jobText';
import { trans } from './translation';

/** What to say of jobs that have ended. */
export interface INotice {
  tone: 'good' | 'bad';
  sentence: string;
  /** The jobs, of which one can be opened when there is only one. */
  jobs: readonly number[];
}

/** A job that has ended, and how. */
export interface IEnded {
  number: number;
  state: string;
}

export interface IEndNoticesOptions {
  /** Whether somebody looks at the page now. */
  isLookedAt: () => boolean;
  /** Who looks: other people's jobs are not told of. */
  user: () => string;
  /** The numbers of those that have ended and are the user's, of which only some may be. */
  choose: (numbers: readonly number[], user: string) => Promise<IEnded[]>;
  ask: (number: number) => Promise<IJob>;
  notify: (notice: INotice) => void;
}

const ENDS = /^job_(?:finished|failed|killed|crashed)$/;
/** Ends that come close together are told together. */
const PAUSE_MS = 1_000;
/** So many are told each by itself. */
const FEW = 3;
/** So many are looked at; a query takes no more values. */
const MOST = 400;

/** Tells of jobs that end while nobody looks at the page. */
export class EndNotices {
  constructor(private readonly options: IEndNoticesOptions) {}

  hear(event: IEvent): void {
    const number = Number(/^job (\d+)$/.exec(event.subject)?.[1]);
    if (
      !ENDS.test(event.kind) ||
      Number.isNaN(number) ||
      this.options.isLookedAt()
    ) {
      return;
    }
    this.numbers.add(number);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.tell();
    }, PAUSE_MS);
  }

  /** Safe to call twice. */
  dispose(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.numbers.clear();
  }

  /** A failed or crashed one may have gone back into the queue, so each is asked for. */
  private async tell(): Promise<void> {
    const { choose, ask, user, notify } = this.options;
    const numbers = [...this.numbers].slice(0, MOST);
    this.numbers.clear();
    try {
      const ended = await choose(numbers, user());
      if (ended.length > FEW) {
        notify(noticeOfMany(ended));
        return;
      }
      for (const { number } of ended) {
        notify(noticeOf(await ask(number)));
      }
    } catch {
      // The server went away; what it says when it is back is on the page.
    }
  }

  private readonly numbers = new Set<number>();
  private timer: ReturnType<typeof setTimeout> | undefined;
}

function noticeOf(job: IJob): INotice {
  return {
    tone: job.state === 'finished' ? 'good' : 'bad',
    sentence: describeJob(job, new Date()),
    jobs: [job.number]
  };
}

function noticeOfMany(ended: readonly IEnded[]): INotice {
  const states = new Map<string, number>();
  for (const { state } of ended) {
    states.set(state, (states.get(state) ?? 0) + 1);
  }
  const each = [...states].map(([state, count]) => `${count} ${state}`);
  return {
    tone: states.size === 1 && states.has('finished') ? 'good' : 'bad',
    sentence: trans._n(
      '%1 job has ended: %2',
      '%1 jobs have ended: %2',
      ended.length,
      each.join(', ')
    ),
    jobs: ended.map(({ number }) => number)
  };
}
