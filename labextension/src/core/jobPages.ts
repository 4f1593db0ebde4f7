import type {
  ICounted,
  IEvent,
  IFindThings,
  IFound,
  IFoundPage,
  IOrder
} from '../contract';
import { asAcaiError } from './connectionStore';
import type { AcaiError } from './errors';
import { AT_ONCE, countHidden } from './hiddenJobs';
import { allNumbers, type IPlace, numbersBetween } from './jobNumbers';
import { Retries } from './retries';
import type { Value } from './values';

/** What the list asks of the server. */
export interface IJobSource {
  find(request: IFindThings): Promise<IFoundPage>;
  count(query: string): Promise<ICounted>;
}

/** What is listed: which jobs, in which order, with which of their values. */
export interface IListing {
  query: string;
  order: IOrder[];
  columns: string[];
}

export const PAGE = 100;
/** So many are kept of those that were read. */
export const MOST_PAGES = 30;
/** Events that come close together are one reason to ask, and so often is it asked at most. */
const PAUSE_MS = 500;

/** What is told of each job, whichever columns there are: it takes its place where a column would be empty. */
const ALWAYS_TOLD = ['state', 'attempts', 'template'];

function toldOf(columns: readonly string[]): string[] {
  return [...new Set([...columns, ...ALWAYS_TOLD])];
}

/**
 * Any number of jobs as a list of which only the part that can be seen is read, by pages from any place on. What is seen
 * is read again when jobs change; what was read before stays until then.
 */
export class JobPages {
  constructor(
    private readonly source: IJobSource,
    private _listing: IListing
  ) {}

  get listing(): IListing {
    return this._listing;
  }

  /** How many jobs there are; until the server has counted, as many as are known to be. */
  get count(): number {
    return this._count ?? this.known;
  }

  get isCounted(): boolean {
    return this._count !== null;
  }

  /** Why the last question was not answered; the rows are those of the one before. */
  get error(): AcaiError | null {
    return this._error;
  }

  /** Nothing was answered yet. */
  get isEmpty(): boolean {
    return this.pages.size === 0;
  }

  row(index: number): IFound | undefined {
    return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /** What a row has for a key that stands in a column, or that is always told. */
  valueOf(row: IFound | undefined, key: string): Value | undefined {
    const at = this.places.get(key);
    return at === undefined ? undefined : row?.values[at];
  }

  /** All rows that were read, hold and are kept. */
  get rows(): readonly IFound[] {
    return [...this.pages.values()].flat();
  }

  /** How often rows were read. */
  get revision(): number {
    return this._revision;
  }

  /** The same job where it stands now; of a row that was not read yet, the job that is there. */
  follow(place: IPlace): IPlace {
    const { index, thing } = place;
    const there = this.row(index)?.thing;
    if (thing === undefined) {
      return there === undefined ? place : { index, thing: there };
    }
    const now = there === thing ? index : this.indexOf(thing);
    return now === null || now === index ? place : { index: now, thing };
  }

  /** The jobs from one place to another, whether or not their rows were read; none once another query is asked. */
  async between(one: IPlace, other: IPlace): Promise<string[]> {
    const [first, last] =
      one.index <= other.index ? [one, other] : [other, one];
    const known = this.knownBetween(first, last);
    if (known !== null) {
      return known;
    }
    const isWanted = this.whileAsked();
    const found = await numbersBetween(
      request => this.source.find(request),
      this.shownListing,
      first,
      last
    );
    return isWanted() ? found : [];
  }

  /** All jobs that are listed, however many; none once another query is asked. Who asks meanwhile has the same answer. */
  all(): Promise<string[]> {
    if (this.reading?.isWanted() === true) {
      return this.reading.jobs;
    }
    const isWanted = this.whileAsked();
    const jobs = this.readAll(isWanted).finally(() => {
      this.reading = this.reading?.jobs === jobs ? null : this.reading;
    });
    this.reading = { jobs, isWanted };
    return jobs;
  }

  /** How many of some jobs are not listed; the server is asked of those that were not read. */
  countHidden(jobs: readonly string[], signal?: AbortSignal): Promise<number> {
    const { query } = this.shownListing;
    if (query === '') {
      return Promise.resolve(0);
    }
    const listed = new Set(this.rows.map(row => row.thing));
    const others = jobs.filter(job => !listed.has(job));
    // Of many it is enough that they were listed: it takes many questions to know whether they are still.
    const unknown =
      others.length > AT_ONCE
        ? others.filter(job => !this.listed.has(job))
        : others;
    return countHidden(
      asked => this.source.count(asked),
      query,
      unknown,
      signal
    );
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  /** List something else, from its beginning. */
  async choose(changes: Partial<IListing>): Promise<void> {
    this._listing = { ...this._listing, ...changes };
    if (changes.query !== undefined) {
      this.wanted = [0, 0];
    }
    this.retries.rest();
    this.tell();
    if (this.isSeen) {
      await this.ask();
    }
  }

  /** Rows from one to another can be seen. */
  want(first: number, last: number): void {
    this.wanted = [Math.floor(first / PAGE), Math.floor(last / PAGE)];
    if (this.isSeen && this.missing().length > 0) {
      void this.ask();
    }
  }

  hear(event: IEvent): void {
    const isOfJobs =
      event.kind.startsWith('job_') && event.kind !== 'job_progressed';
    if (isOfJobs || event.kind === 'metadata_changed') {
      this.doubt();
    }
  }

  /** What is known may not hold any more. */
  doubt(): void {
    this.isStale = true;
    this.askSoon();
  }

  setSeen(isSeen: boolean): void {
    this.isSeen = isSeen;
    this.askSoon();
  }

  /** Safe to call twice. */
  dispose(): void {
    this.isSeen = false;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.retries.dispose();
    this.listeners.clear();
  }

  private askSoon(): void {
    if (!this.isSeen || !this.isStale || this.timer !== undefined) {
      return;
    }
    this.timer = setTimeout(
      () => {
        this.timer = undefined;
        void this.ask();
      },
      this.isEmpty ? 0 : PAUSE_MS
    );
  }

  /** One question at a time; who wants something else meanwhile is answered by the next one. */
  private async ask(): Promise<void> {
    this.isAskedAgain = true;
    if (this.isAsking) {
      return;
    }
    this.isAsking = true;
    while (this.isAskedAgain) {
      this.isAskedAgain = false;
      await this.askOnce();
    }
    this.isAsking = false;
    this.tell();
  }

  /** Read what can be seen and is not there, or all that can be seen when it may not hold any more. */
  private async askOnce(): Promise<void> {
    const asked = this._listing;
    const isAnew = this.isStale || asked !== this.shown;
    const pages = isAnew ? this.visible() : this.missing();
    this.isStale = false;
    try {
      const found = await Promise.all(pages.map(page => this.read(page)));
      if (asked !== this._listing) {
        return;
      }
      if (isAnew) {
        this.begin(asked);
      }
      pages.forEach((page, at) => {
        this.take(page, found[at]);
      });
      this._revision += 1;
      this._error = null;
      this.retries.rest();
    } catch (error) {
      this.isStale = true;
      if (asked !== this._listing) {
        return;
      }
      this._error = asAcaiError(error);
      this.retries.fail(this._error);
    }
    this.tell();
  }

  private begin(asked: IListing): void {
    if (this.shown?.query !== asked.query) {
      this._count = null;
      this.known = 0;
      this.listed = new Set();
    }
    this.shown = asked;
    this.places = new Map(toldOf(asked.columns).map((key, at) => [key, at]));
    this.pages.clear();
    void this.recount(asked);
  }

  private async recount(asked: IListing): Promise<void> {
    try {
      const { count } = await this.source.count(asked.query);
      if (asked === this.shown) {
        this._count = count;
        this.tell();
      }
    } catch {
      // What is known to be there is enough to go on.
    }
  }

  private read(page: number): Promise<IFoundPage> {
    const { query, order, columns } = this._listing;
    return this.source.find({
      kind: 'job',
      query,
      order,
      columns: toldOf(columns),
      skip: page * PAGE,
      limit: PAGE,
      utc_offset_seconds: -60 * new Date().getTimezoneOffset()
    });
  }

  private take(page: number, found: IFoundPage | undefined): void {
    if (found !== undefined) {
      this.pages.set(page, found.rows);
      const hasMore = found.next !== null && found.next !== undefined;
      const reached = page * PAGE + found.rows.length + (hasMore ? PAGE : 0);
      this.known = Math.max(this.known, reached);
      this.forget();
    }
  }

  /** Of more pages than are kept those go that were read first and cannot be seen. */
  private forget(): void {
    const seen = this.visible();
    for (const page of [...this.pages.keys()]) {
      if (this.pages.size > MOST_PAGES && !seen.includes(page)) {
        this.pages.delete(page);
      }
    }
  }

  private async readAll(isWanted: () => boolean): Promise<string[]> {
    const found = await allNumbers(
      request => this.source.find(request),
      this.shownListing,
      isWanted
    );
    if (isWanted()) {
      this.listed = new Set(found);
    }
    return found;
  }

  /** What tells whether neither what is asked for nor what is shown is of another query since. */
  private whileAsked(): () => boolean {
    const asked = this._listing.query;
    const shown = this.shownListing.query;
    return () =>
      asked === this._listing.query && shown === this.shownListing.query;
  }

  private indexOf(thing: string): number | null {
    for (const [page, rows] of this.pages) {
      const at = rows.findIndex(row => row.thing === thing);
      if (at >= 0) {
        return page * PAGE + at;
      }
    }
    return null;
  }

  /** Null where a row between them was not read, or where one of them is not what stood there. */
  private knownBetween(first: IPlace, last: IPlace): string[] | null {
    const found: string[] = [];
    for (let index = first.index; index <= last.index; index += 1) {
      const thing = this.row(index)?.thing;
      if (thing === undefined) {
        return null;
      }
      found.push(thing);
    }
    const areThere =
      (first.thing ?? found[0]) === found[0] &&
      (last.thing ?? found.at(-1)) === found.at(-1);
    return areThere ? found : null;
  }

  private visible(): number[] {
    const [first, last] = this.wanted;
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  }

  private missing(): number[] {
    return this.visible().filter(page => !this.pages.has(page));
  }

  private tell(): void {
    for (const listener of [...this.listeners]) {
      listener();
    }
  }

  /** The columns and values that rows have, which are older than what is asked for until that is answered. */
  get shownListing(): IListing {
    return this.shown ?? this._listing;
  }

  private readonly retries = new Retries(() => {
    if (this.isSeen) {
      void this.ask();
    }
  });
  private readonly pages = new Map<number, IFound[]>();
  private readonly listeners = new Set<() => void>();
  /** Those that `all` has told of the query that is shown. */
  private listed: ReadonlySet<string> = new Set();
  private reading: {
    jobs: Promise<string[]>;
    isWanted: () => boolean;
  } | null = null;
  private shown: IListing | null = null;
  /** Where the values of a key stand in the rows that are shown. */
  private places: ReadonlyMap<string, number> = new Map();
  private wanted: [number, number] = [0, 0];
  private isSeen = false;
  private isStale = true;
  private isAsking = false;
  private isAskedAgain = false;
  private known = 0;
  private _revision = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private _count: number | null = null;
  private _error: AcaiError | null = null;
}
