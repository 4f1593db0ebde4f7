import type {
  IFindThings,
  IFound,
  IFoundPage,
  ISubjectKind
} from '../contract';
import { asAcaiError } from './connectionStore';
import type { AcaiError } from './errors';

/** What is searched, in the order in which it is shown. */
export const KINDS: readonly ISubjectKind[] = ['file_set', 'file', 'job'];

/** What was found of one kind, and why nothing was. */
export interface IFoundKind {
  kind: ISubjectKind;
  rows: readonly IFound[];
  hasMore: boolean;
  error: AcaiError | null;
}

const MOST = 50;

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
    const errors = this.found.map(one => one.error);
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

  async ask(query: string): Promise<void> {
    this.query = query;
    this.isAsking = query.trim() !== '';
    if (!this.isAsking) {
      this.found = [];
      this.tell();
      return;
    }
    this.tell();
    const found = await Promise.all(KINDS.map(kind => this.askOf(kind, query)));
    if (query === this.query) {
      this.found = found;
      this.isAsking = false;
      this.tell();
    }
  }

  private async askOf(kind: ISubjectKind, query: string): Promise<IFoundKind> {
    try {
      const { rows, next } = await this.find({
        kind,
        query,
        columns: kind === 'job' ? ['state', 'name'] : ['creator'],
        limit: MOST,
        utc_offset_seconds: -60 * new Date().getTimezoneOffset()
      });
      const hasMore = next !== null && next !== undefined;
      return { kind, rows, hasMore, error: null };
    } catch (error) {
      return { kind, rows: [], hasMore: false, error: asAcaiError(error) };
    }
  }

  private tell(): void {
    for (const listener of [...this.listeners]) {
      listener();
    }
  }

  private readonly listeners = new Set<() => void>();
}
