import type { IFoundLines } from '../contract';
import { AnsiReader, type Line } from './ansi';
import { asAcaiError } from './connectionStore';
import type { AcaiError } from './errors';
import { Retries } from './retries';

/** After so long without a key the server is asked. */
const PAUSE_MS = 150;

/** The lines of a whole log that have some text, as the server finds them: one question at a time, the last one counts. */
export class LogSearch {
  constructor(
    private readonly find: (text: string) => Promise<IFoundLines>,
    private readonly onChange: () => void
  ) {}

  /** What was found of what is looked for; nothing before it is known. */
  found: IFoundLines | null = null;
  lines: readonly { line: Line; at: number; number: number }[] | null = null;
  error: AcaiError | null = null;

  get isAsking(): boolean {
    return this.wanted !== this.answered;
  }

  /** Look for a text, or for nothing any more. */
  look(text: string): void {
    if (text !== this.wanted) {
      this.retries.rest();
    }
    this.wanted = text;
    clearTimeout(this.timer);
    if (text === '') {
      this.answered = '';
      this.take(null);
    } else {
      this.answered = null;
      this.timer = setTimeout(() => void this.ask(), PAUSE_MS);
    }
    this.onChange();
  }

  /** Ask at once for what was not answered. */
  tryAgain(): void {
    this.retries.hurry();
  }

  /** Safe to call twice. */
  dispose(): void {
    this.retries.dispose();
    clearTimeout(this.timer);
    this.wanted = this.answered = '';
  }

  private async ask(): Promise<void> {
    if (this.isUnderWay) {
      return;
    }
    this.isUnderWay = true;
    while (this.wanted !== '' && this.isAsking) {
      const text = this.wanted;
      try {
        const found = await this.find(text);
        this.settle(text, found, null);
      } catch (error) {
        this.settle(text, null, asAcaiError(error));
      }
    }
    this.isUnderWay = false;
  }

  private settle(
    text: string,
    found: IFoundLines | null,
    error: AcaiError | null
  ): void {
    if (text === this.wanted) {
      this.answered = text;
      this.take(found, error);
      if (error === null) {
        this.retries.rest();
      } else {
        this.retries.fail(error);
      }
      this.onChange();
    }
  }

  private take(
    found: IFoundLines | null,
    error: AcaiError | null = null
  ): void {
    this.found = found;
    this.error = error;
    this.lines =
      found?.lines.map(({ number, text }) => ({
        line: new AnsiReader().feed(`${text}\n`)[0] ?? [],
        at: number - 1,
        number
      })) ?? null;
  }

  private readonly retries = new Retries(() => {
    this.look(this.wanted);
  });
  private wanted = '';
  private answered: string | null = '';
  private isUnderWay = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
}
