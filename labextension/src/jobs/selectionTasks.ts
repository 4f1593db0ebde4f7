import { asAcaiError } from '../core/connectionStore';
import { killJobs, tagThings } from '../core/jobActions';
import type { ITagLine } from '../core/tagLine';
import { trans } from '../core/translation';
import { type IJobRemoval, removeJobs } from './removing';

type Source = IJobRemoval &
  Parameters<typeof killJobs>[0] &
  Parameters<typeof tagThings>[0];

/** What became of something: what was done, and why other things were not. */
interface ITold {
  done: string;
  kept?: readonly string[];
}

/** What is done with jobs that were chosen: one thing at a time, and what became of it. */
export class SelectionTasks {
  constructor(
    private readonly source: Source,
    /** These are deleted. */
    private readonly onGone: (jobs: readonly string[]) => void
  ) {}

  get isBusy(): boolean {
    return this.stopping !== null;
  }

  get canStop(): boolean {
    return this.isRemoving && this.stopping?.signal.aborted === false;
  }

  get told(): string {
    return this._told;
  }

  /** Why something was not done. */
  get failure(): string {
    return this._failure;
  }

  /** Whether something was deleted that was not brought back. */
  get canUndo(): boolean {
    return this.removals.length > 0;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  remove(numbers: readonly number[]): Promise<boolean> {
    return this.attempt(async signal => {
      const { done, kept } = await removeJobs(
        this.source,
        numbers,
        false,
        step => {
          this.say(trans.__('%1 of %2 deleted', step, numbers.length));
        },
        signal
      );
      if (done.length > 0) {
        this.removals.push(done);
      }
      this.onGone(done.map(String));
      return {
        done: trans._n('%1 deleted', '%1 deleted', done.length),
        kept
      };
    }, true);
  }

  /** Bring back what was deleted last. */
  undo(): Promise<boolean> {
    return this.attempt(async signal => {
      const last = this.removals.at(-1) ?? [];
      const { done, kept } = await removeJobs(
        this.source,
        last,
        true,
        step => {
          this.say(trans.__('%1 of %2 brought back', step, last.length));
        },
        signal
      );
      const back = new Set(done);
      const rest = last.filter(one => !back.has(one));
      this.removals.splice(-1, 1, ...(rest.length > 0 ? [rest] : []));
      return {
        done: trans._n('%1 brought back', '%1 brought back', done.length),
        kept
      };
    }, true);
  }

  kill(numbers: readonly number[]): Promise<boolean> {
    return this.attempt(async () => {
      const { asked, ended, error } = await killJobs(this.source, numbers);
      return {
        done:
          error !== null && asked + ended === 0
            ? ''
            : trans.__('%1 being ended, %2 had ended before', asked, ended),
        kept: error === null ? [] : [error.message]
      };
    });
  }

  tag(things: readonly string[], change: ITagLine['change']): Promise<boolean> {
    return this.attempt(async () => {
      const { changed, error } = await tagThings(this.source, things, change);
      return {
        done:
          error !== null && changed === 0
            ? ''
            : trans._n('%1 changed', '%1 changed', changed),
        kept: error === null ? [] : [error.message]
      };
    });
  }

  /** Delete or bring back no more of them than were until now. */
  stop(): void {
    this.stopping?.abort();
    this.tell();
  }

  /** What was not done is not asked for any more. */
  forgive(): void {
    this._failure = '';
    this.tell();
  }

  /** Tells whether all of it was done. What is asked while something else is done is not. */
  private async attempt(
    act: (signal: AbortSignal) => Promise<ITold>,
    isRemoving = false
  ): Promise<boolean> {
    if (this.stopping !== null) {
      return false;
    }
    this.stopping = new AbortController();
    this.isRemoving = isRemoving;
    this._failure = '';
    this.say('');
    try {
      const { done, kept = [] } = await act(this.stopping.signal);
      this._told = done;
      this._failure = kept.join(' · ');
    } catch (error) {
      this._failure = asAcaiError(error).message;
    } finally {
      this.stopping = null;
      this.isRemoving = false;
    }
    this.tell();
    return this._failure === '';
  }

  private say(told: string): void {
    this._told = told;
    this.tell();
  }

  private tell(): void {
    for (const listener of [...this.listeners]) {
      listener();
    }
  }

  private readonly listeners = new Set<() => void>();
  private readonly removals: number[][] = [];
  private stopping: AbortController | null = null;
  private isRemoving = false;
  private _told = '';
  private _failure = '';
}
