import { asAcaiError } from '../core/connectionStore';
import { type Chosen, joined, NOTHING, toggled, without } from './selection';

/** Which jobs are chosen, and why some could not be. */
export class Choice {
  get chosen(): Chosen {
    return this._chosen;
  }

  get failure(): string {
    return this._failure;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  readonly toggle = (job: string): void => {
    this.change(toggled(this._chosen, job));
  };

  /** Choose these too, once they are known. What is answered after somebody chose otherwise is late. */
  readonly add = async (jobs: Promise<string[]>): Promise<void> => {
    const asked = this.changes;
    let found: string[] = [];
    let failure = '';
    try {
      found = await jobs;
    } catch (error) {
      failure = asAcaiError(error).message;
    }
    if (asked === this.changes) {
      this._chosen = joined(this._chosen, found);
      this._failure = failure;
      this.tell();
    }
  };

  readonly remove = (jobs: readonly string[]): void => {
    this.change(without(this._chosen, jobs));
  };

  readonly clear = (): void => {
    this.change(NOTHING);
  };

  private change(chosen: Chosen): void {
    this.changes += 1;
    this._chosen = chosen;
    this._failure = '';
    this.tell();
  }

  private tell(): void {
    for (const listener of [...this.listeners]) {
      listener();
    }
  }

  private readonly listeners = new Set<() => void>();
  private changes = 0;
  private _chosen: Chosen = NOTHING;
  private _failure = '';
}
