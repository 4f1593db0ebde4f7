import { asAcaiError } from './connectionStore';
import type { AcaiError } from './errors';

/** A page of something, and the place to go on from. */
export interface IPart<T, Mark> {
  items: readonly T[];
  next: Mark | null;
}

/** A list that is read by pages, and anew as far as it was read. */
export class PagedList<T, Mark> {
  constructor(
    private readonly read: (after: Mark | null) => Promise<IPart<T, Mark>>
  ) {}

  items: readonly T[] = [];
  error: AcaiError | null = null;
  /** The first answer is not there yet. */
  isEmpty = true;

  get hasMore(): boolean {
    return this.next !== null;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  async refresh(): Promise<void> {
    await this.attempt(async () => {
      const found: T[] = [];
      let next: Mark | null = null;
      do {
        const page: IPart<T, Mark> = await this.read(next);
        found.push(...page.items);
        next = page.next;
      } while (next !== null && found.length < this.items.length);
      this.take(found, next);
    });
  }

  async more(): Promise<void> {
    await this.attempt(async () => {
      const page = await this.read(this.next);
      this.take([...this.items, ...page.items], page.next);
    });
  }

  private take(items: readonly T[], next: Mark | null): void {
    this.items = items;
    this.next = next;
    this.isEmpty = false;
  }

  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.error = null;
    } catch (error) {
      this.error = asAcaiError(error);
    }
    this.tell();
  }

  protected tell(): void {
    for (const listener of [...this.listeners]) {
      listener();
    }
  }

  private readonly listeners = new Set<() => void>();
  private next: Mark | null = null;
}
