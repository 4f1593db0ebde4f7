import type { ILogPage } from '../contract';
import { AnsiReader, type Line } from './ansi';
import type { AcaiError } from './errors';
import { asAcaiError } from './connectionStore';
import { Retries } from './retries';

/** So much of the end of a log is read at first. */
export const TAIL_BYTES = 64 * 1024;
/** So many lines are shown at most, the first ones go: each is laid out until it is known how many there are in all. */
export const MOST_LINES = 1_000;

// eslint-disable-next-line no-control-regex -- the mark before tags
const TAG = /^(?:\x1e)?\[ACAI_TAG/;

/** The end of the log of one attempt, as far as somebody has looked at it. */
export class LogTail {
  constructor(
    private readonly read: (offset: number) => Promise<ILogPage>,
    private readonly onChange: () => void
  ) {}

  lines: readonly Line[] = [];
  /** How many lines that were read stood before the first one that is shown. */
  gone = 0;
  /** Where the first byte that is shown stands; what is before it was not read. */
  start = 0;
  hasEnded = false;

  error: AcaiError | null = null;
  isLoading = false;

  /** Read what is new, up to `size` bytes as far as that is known. Never rejects. */
  async advance(size: number): Promise<void> {
    this.size = Math.max(this.size, size);
    this.asked += 1;
    if (this.isLoading || this.hasEnded) {
      return;
    }
    this.isLoading = true;
    // Who asks while it reads may know of an end that the page on its way does not have.
    let answered: number;
    do {
      answered = this.asked;
      this.skipFar();
      try {
        await this.readOn();
        this.error = null;
        this.retries.rest();
      } catch (error) {
        this.error = asAcaiError(error);
        this.retries.fail(this.error);
      }
    } while (answered !== this.asked);
    this.isLoading = false;
    this.onChange();
  }

  /** Ask at once for what was not answered. */
  tryAgain(): void {
    this.retries.hurry();
  }

  /** Safe to call twice. */
  dispose(): void {
    this.retries.dispose();
  }

  private async readOn(): Promise<void> {
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const page = await this.read(this.offset);
      this.offset = page.next_offset;
      this.take(page.text);
      this.hasEnded = page.ended;
      if (page.ended || page.text === '') {
        return;
      }
    }
  }

  /** A log that has grown far is shown from near its end on: what lies between is not read. */
  private skipFar(): void {
    if (this.size - this.offset > 4 * TAIL_BYTES) {
      this.begin(this.size - TAIL_BYTES);
    }
  }

  private begin(offset: number): void {
    this.start = this.offset = offset;
    this.reader = new AnsiReader();
    this.ended = [];
    this.lines = [];
    this.gone = 0;
    this.isCut = offset > 0;
  }

  private take(text: string): void {
    let fresh = this.reader.feed(text);
    if (this.isCut && fresh.length > 0) {
      // It begins within a line.
      fresh = fresh.slice(1);
      this.isCut = false;
    }
    const seen = fresh.filter(line => !TAG.test(textOf(line)));
    const all = [...this.ended, ...seen];
    this.ended = all.slice(-MOST_LINES);
    this.gone += all.length - this.ended.length;
    const current = this.reader.current;
    this.lines = current.length > 0 ? [...this.ended, current] : this.ended;
  }

  private readonly retries = new Retries(() => void this.advance(0));
  private size = 0;
  private asked = 0;
  private offset = 0;
  private isCut = false;
  private ended: Line[] = [];
  private reader = new AnsiReader();
}

/** In one go no more than some megabytes are read; the next event asks for more. */
const MOST_PAGES = 16;

export function textOf(line: Line): string {
  return line.map(span => span.text).join('');
}
