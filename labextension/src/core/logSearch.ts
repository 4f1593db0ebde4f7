import type { IFoundLine, IFoundLines, ILogPlace } from '../contract';
import { AnsiReader, cutLine, type Line } from './ansi';
import { asAcaiError } from './connectionStore';
import type { AcaiError } from './errors';
import { isGiven } from './given';
import { nextHit } from './logHits';
import { Retries } from './retries';

/** Only the first line behind a number, or the last before one. */
export interface INear {
  after?: number;
  before?: number;
}

/** What one request asks: a text, or the line with it next to a number, from a place of the log on. */
export interface ILogQuestion {
  text: string;
  near?: INear;
  from?: ILogPlace;
  signal?: AbortSignal;
}

/** How many lines are kept; of more than that the count is enough. */
const MOST_LINES = 1_000;

/** How many matches are counted. */
const MOST_COUNTED = 100_000;

/** After so long without a key the server is asked. */
const PAUSE_MS = 150;

const LAST = Number.MAX_SAFE_INTEGER;

interface IHit {
  line: Line;
  at: number;
  number: number;
}

/**
 * The lines of a whole log that contain a text, as the server finds them. One request reads a part of a long log; it goes
 * on by itself until the log is read. One question at a time: a newer one aborts the one under way.
 */
export class LogSearch {
  constructor(
    private readonly find: (question: ILogQuestion) => Promise<IFoundLines>,
    private readonly onChange: () => void
  ) {}

  /** What was found of what is looked for; nothing before it is known. */
  found: IFoundLines | null = null;
  lines: readonly IHit[] | null = null;
  error: AcaiError | null = null;

  get isAsking(): boolean {
    return this.turn !== this.answered;
  }

  /** Look for a text, or for nothing any more. */
  look(text: string): void {
    if (text !== this.wanted) {
      this.retries.rest();
    }
    this.wanted = text;
    this.turn += 1;
    this.underWay?.abort();
    clearTimeout(this.timer);
    if (text === '') {
      this.answered = this.turn;
      this.take(null);
    } else {
      this.timer = setTimeout(() => void this.ask(), PAUSE_MS);
    }
    this.onChange();
  }

  /** A line as it was found, where what is looked for stands behind what else is shown of it. */
  instead(number: number): Line | undefined {
    return this.cut.get(number);
  }

  /**
   * The next line that has it, or the one before; behind the last one it begins anew. Only the first ones are told: where
   * the others are, the server is asked. Never rejects.
   */
  async hit(from: number, by: 1 | -1): Promise<number | undefined> {
    const { wanted } = this;
    if (wanted === '') {
      return undefined;
    }
    // What was found may be of another text.
    const found = this.isAsking ? null : this.found;
    const told = found?.lines.map(one => one.number) ?? [];
    const isAll = found?.count === told.length && found.is_cut !== true;
    const next = nextHit(told, from, by);
    const isTold =
      by === 1 ? from < (told.at(-1) ?? 0) : from <= (told.at(-1) ?? 0);
    const isAnew = by === -1 && next !== undefined && next >= from;
    if (isAll || (isTold && !isAnew)) {
      return next;
    }
    const near = by === 1 ? { after: from } : { before: isAnew ? LAST : from };
    try {
      const there = await this.nearest(wanted, near);
      if (wanted !== this.wanted) {
        return undefined;
      }
      this.error = null;
      this.keep(there);
      this.onChange();
      return there.lines[0]?.number ?? next;
    } catch (error) {
      this.error = asAcaiError(error);
      this.onChange();
      return undefined;
    }
  }

  /** Ask at once for what was not answered. */
  tryAgain(): void {
    this.retries.hurry();
  }

  /** Safe to call twice. */
  dispose(): void {
    this.retries.dispose();
    this.underWay?.abort();
    clearTimeout(this.timer);
    this.wanted = '';
    this.answered = this.turn;
  }

  private async ask(): Promise<void> {
    if (this.isUnderWay) {
      return;
    }
    this.isUnderWay = true;
    while (this.wanted !== '' && this.isAsking) {
      const { turn, wanted } = this;
      try {
        this.settle(turn, await this.findAll(turn, wanted), null);
      } catch (error) {
        this.settle(turn, null, asAcaiError(error));
      }
    }
    this.isUnderWay = false;
  }

  /** Asks until the log was read, and shows what is found so far. */
  private async findAll(turn: number, text: string): Promise<IFoundLines> {
    this.underWay = new AbortController();
    const { signal } = this.underWay;
    let found = await this.find({ text, signal });
    while (
      isGiven(found.next) &&
      found.count < MOST_COUNTED &&
      turn === this.turn
    ) {
      this.take(found);
      this.onChange();
      const more = await this.find({ text, from: found.next, signal });
      found = joined(found, more);
    }
    return found;
  }

  /** Of a search before a number each part may have a later line. */
  private async nearest(text: string, near: INear): Promise<IFoundLines> {
    let found = await this.find({ text, near });
    while (isGiven(found.next) && text === this.wanted) {
      const more = await this.find({ text, near, from: found.next });
      const { lines } = more.lines.length > 0 ? more : found;
      found = { ...more, lines };
    }
    return found;
  }

  private settle(
    turn: number,
    found: IFoundLines | null,
    error: AcaiError | null
  ): void {
    if (turn === this.turn) {
      this.answered = turn;
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
    this.cut.clear();
    this.lines = found === null ? null : this.keep(found);
  }

  private keep(found: IFoundLines): readonly IHit[] {
    return found.lines.map(one => {
      const { number, before = 0 } = one;
      const line = lineOf(one);
      if (before > 0) {
        this.cut.set(number, line);
      }
      return { line, at: number - 1, number };
    });
  }

  private readonly cut = new Map<number, Line>();
  private readonly retries = new Retries(() => {
    this.look(this.wanted);
  });
  private wanted = '';
  /** Which question is the last one, and which was answered: the same text may be asked for twice. */
  private turn = 0;
  private answered = 0;
  private isUnderWay = false;
  private underWay: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
}

function joined(one: IFoundLines, more: IFoundLines): IFoundLines {
  const last = one.lines.at(-1)?.number;
  const lines = more.lines.filter(line => line.number !== last);
  return {
    ...more,
    lines: [...one.lines, ...lines].slice(0, MOST_LINES),
    count: one.count + more.count
  };
}

/** A line that is told alone, with marks where it is cut. */
function lineOf({ text, before = 0, more = 0 }: IFoundLine): Line {
  const line = new AnsiReader().feed(`${text}\n`)[0] ?? [];
  return cutLine(line, before, more);
}
