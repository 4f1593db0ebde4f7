import type {
  IFindThings,
  IFound,
  IFoundPage,
  ISubjectKind
} from '../contract';
import type { AcaiError } from './errors';
import { PagedList } from './pagedList';
import { narrowed } from './queryText';

/** What is searched, in the order in which it is shown. */
export const KINDS: readonly ISubjectKind[] = ['file_set', 'file', 'job'];

/** What was found of one kind, page by page, and why nothing was. */
export interface IFoundKind {
  kind: ISubjectKind;
  list: PagedList<IFound, string>;
}

const PAGE = 50;
/** What jobs ran is found by who names it; as in the tree of files, it is in nobody's way. */
const OF_THE_SYSTEM = /\.(?:code|variables)/;
const NOT_OF_THE_SYSTEM = "path !~ '^/\\.(code|variables)/'";

/** One query asked of files, file sets and jobs at once. Only the answer to the last one is shown. */
export class ThingSearch {
  constructor(
    private readonly find: (request: IFindThings) => Promise<IFoundPage>
  ) {}

  query = '';
  isAsking = false;
  found: readonly IFoundKind[] = [];

  /** What is wrong with the query, where no kind of things understands it. */
  get fault(): AcaiError | null {
    const errors = this.found.map(one => one.list.error);
    return errors.length > 0 && errors.every(error => error !== null)
      ? (errors[0] ?? null)
      : null;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  /** Ask; what was asked before, as far as it was read. */
  async ask(query: string): Promise<void> {
    this.query = query;
    this.isAsking = query.trim() !== '';
    if (!this.isAsking) {
      this.found = [];
      this.answered = '';
      this.tell();
      return;
    }
    this.tell();
    const found =
      query === this.answered
        ? this.found
        : KINDS.map(kind => ({ kind, list: this.listOf(kind, query) }));
    await Promise.all(found.map(({ list }) => list.refresh()));
    if (query === this.query) {
      this.found = found;
      this.answered = query;
      this.isAsking = false;
      this.tell();
    }
  }

  private listOf(kind: ISubjectKind, query: string): IFoundKind['list'] {
    const isAll = kind !== 'file' || OF_THE_SYSTEM.test(query);
    const list = new PagedList<IFound, string>(async after => {
      const { rows, next } = await this.find({
        kind,
        query: isAll ? query : narrowed(query, NOT_OF_THE_SYSTEM),
        columns: kind === 'job' ? ['state', 'name'] : ['creator'],
        limit: PAGE,
        utc_offset_seconds: -60 * new Date().getTimezoneOffset(),
        ...(after === null ? {} : { after })
      });
      return { items: rows, next: next ?? null };
    });
    list.subscribe(() => {
      this.tell();
    });
    return list;
  }

  private tell(): void {
    for (const listener of [...this.listeners]) {
      listener();
    }
  }

  /** To which query what was found belongs. */
  private answered = '';
  private readonly listeners = new Set<() => void>();
}
