import { asAcaiError } from './connectionStore';
import type { AcaiError } from './errors';
import type { IGraphSource } from './graphSource';

/** What somebody looks for in a project, until they want something else. */
export class GraphSearch {
  constructor(
    private readonly source: IGraphSource,
    private readonly tell: () => void
  ) {}

  /** What could not be looked for, and why. */
  get lost(): { text: string; error: AcaiError } | null {
    return this._lost;
  }

  /** What was looked for, if nothing is called so. */
  get missing(): string {
    return this._missing;
  }

  /** What was looked for until now is not wanted any more. */
  turnAway(): void {
    this.turn += 1;
    this._lost = null;
    this._missing = '';
  }

  miss(text: string): void {
    this._missing = text;
    this.tell();
  }

  /** Null where it is not known, as somebody wants something else meanwhile or the server did not say. */
  async found(text: string, project: string): Promise<string | null> {
    this.turnAway();
    this.tell();
    const { turn } = this;
    try {
      const thing = text === '' ? '' : await this.source.find(text, project);
      return turn === this.turn ? thing : null;
    } catch (error) {
      if (turn === this.turn) {
        this._lost = { text, error: asAcaiError(error) };
        this.tell();
      }
      return null;
    }
  }

  private turn = 0;
  private _lost: { text: string; error: AcaiError } | null = null;
  private _missing = '';
}
