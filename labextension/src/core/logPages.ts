import type { IFoundLines } from '../contract';
import { AnsiReader, cutLine, type Line } from './ansi';
import { asAcaiError } from './connectionStore';
import type { AcaiError } from './errors';
import { isGiven } from './given';
import { Retries } from './retries';

export const PAGE_LINES = 200;
/** So many pages are held; those farthest from what can be seen go. */
const MOST_PAGES = 40;

/**
 * Any number of lines of a log, of which only the part that can be seen is read. Each page begins plain: a colour that began
 * before it is not known. One question is under way at a time.
 */
export class LogPages {
  constructor(
    private readonly read: (
      first: number,
      limit: number
    ) => Promise<IFoundLines>,
    private readonly onChange: () => void
  ) {}

  /** How many lines there are, as far as was asked; nothing before the end was read. */
  count: number | null = null;
  error: AcaiError | null = null;

  /** A line by its number from 1 on, if it was read. */
  line(number: number): Line | undefined {
    const [page, at] = placeOf(number);
    return this.pages.get(page)?.[at];
  }

  /** All lines, where they are one page. */
  get whole(): readonly Line[] | null {
    const isSmall = this.count !== null && this.count <= PAGE_LINES;
    return isSmall ? (this.pages.get(0) ?? []) : null;
  }

  /** Lines from one number to another can be seen, and maybe the end, which is to be seen when there is more, too. */
  want(first: number, last: number, isAtEnd: boolean): void {
    this.wanted = [first, last];
    this.isAtEnd = isAtEnd;
    if (this.missing().length > 0 && !this.retries.isOwed) {
      void this.ask();
    }
  }

  /** There may be more now. Never rejects. */
  async advance(): Promise<void> {
    this.isStale = true;
    await this.ask();
  }

  /** Ask at once for what was not answered. */
  tryAgain(): void {
    this.retries.hurry();
  }

  /** Safe to call twice. */
  dispose(): void {
    this.isDisposed = true;
    this.retries.dispose();
  }

  private async ask(): Promise<void> {
    this.isAskedAgain = true;
    if (this.isAsking) {
      return;
    }
    this.isAsking = true;
    while (this.isAskedAgain) {
      this.isAskedAgain = false;
      try {
        await this.askOnce();
        this.error = null;
        this.retries.rest();
      } catch (error) {
        this.isStale = true;
        this.error = asAcaiError(error);
        this.retries.fail(this.error);
      }
      this.count = this.known ?? this.count;
      this.onChange();
    }
    this.isAsking = false;
  }

  private async askOnce(): Promise<void> {
    if (this.isStale) {
      this.isStale = false;
      // The line that was the last one may not have been over.
      await this.take(placeOf(Math.max(1, this.known ?? 1))[0]);
    }
    for (const page of this.missing()) {
      await this.take(page);
    }
  }

  private async take(page: number): Promise<void> {
    const found = await this.readPage(page * PAGE_LINES + 1);
    const reader = new AnsiReader();
    const lines = found.lines.flatMap(({ text, before = 0, more = 0 }) =>
      reader.feed(`${text}\n`).map(line => cutLine(line, before, more))
    );
    if (this.known !== null && found.of !== this.known) {
      this.forgetCut(Math.min(found.of, this.known));
    }
    this.known = found.of;
    this.pages.set(page, lines);
    this.forgetFar(page);
  }

  /** One request passes over a part of a long log; it is asked until all lines of the page are there. */
  private async readPage(first: number): Promise<IFoundLines> {
    let found = await this.read(first, PAGE_LINES);
    const { lines } = found;
    while (
      isGiven(found.next) &&
      lines.length < PAGE_LINES &&
      !this.isDisposed
    ) {
      found = await this.read(first + lines.length, PAGE_LINES - lines.length);
      lines.push(...found.lines);
    }
    return { ...found, lines };
  }

  /** Pages that were not full have more lines now, or fewer. */
  private forgetCut(count: number): void {
    for (const [page] of [...this.pages]) {
      if ((page + 1) * PAGE_LINES >= count) {
        this.pages.delete(page);
      }
    }
  }

  private forgetFar(page: number): void {
    if (this.pages.size > MOST_PAGES) {
      const far = [...this.pages.keys()].sort(
        (one, other) => Math.abs(other - page) - Math.abs(one - page)
      );
      far.slice(0, this.pages.size - MOST_PAGES).forEach(one => {
        this.pages.delete(one);
      });
    }
  }

  private missing(): number[] {
    const count = this.known;
    if (count === null || count === 0) {
      return [];
    }
    const [first, last] = this.isAtEnd
      ? [count - PAGE_LINES / 2, count]
      : this.wanted;
    const from = placeOf(Math.max(1, Math.min(count, first)))[0];
    const to = placeOf(Math.max(1, Math.min(count, last)))[0];
    return Array.from(
      { length: to - from + 1 },
      (_, index) => from + index
    ).filter(page => !this.pages.has(page));
  }

  private readonly retries = new Retries(() => void this.ask());
  private readonly pages = new Map<number, Line[]>();
  private known: number | null = null;
  private wanted: [number, number] = [1, 1];
  private isAtEnd = true;
  private isStale = false;
  private isDisposed = false;
  private isAsking = false;
  private isAskedAgain = false;
}

function placeOf(number: number): [number, number] {
  return [Math.floor((number - 1) / PAGE_LINES), (number - 1) % PAGE_LINES];
}
