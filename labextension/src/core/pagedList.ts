import { asAcaiError } from './connectionStore';
import type { AcaiError } from './errors';

/** A page of something, and the place to go on from. */
export interface IPart<T, Mark> {
  items: readonly T[];
  next: Mark | null;
}

const SIGNED_OUT = [401, 403];

/** Whether the same question has the same answer until somebody does something about it. */
export function isRefusal(error: AcaiError | null): boolean {
  const status = error?.status ?? 0;
  return status >= 400 && status < 500 && !SIGNED_OUT.includes(status);
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

  /** Read on. What is asked twice is read once, and dropped when the list ends elsewhere by then. */
  more(): Promise<void> {
    this.reading ??= this.readOn().finally(() => {
      this.reading = null;
    });
    return this.reading;
  }

  /** Ask for what is not there yet: not while that is under way, nor again after it was refused. */
  ask(): Promise<void> {
    const isOpen = this.isEmpty || (this.hasMore && this.error !== null);
    return isOpen && !this.isRefused ? this.more() : Promise.resolve();
  }

  /** Somebody wants to ask again in spite of what was said. */
  insist(): void {
    this.isRefused = false;
  }

  private async readOn(): Promise<void> {
    await this.attempt(async () => {
      const { next, isEmpty } = this;
      const page = await this.read(next);
      if (next === this.next && isEmpty === this.isEmpty) {
        this.take([...this.items, ...page.items], page.next);
      }
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
    this.isRefused = isRefusal(this.error);
    this.tell();
  }

  protected tell(): void {
    for (const listener of [...this.listeners]) {
      listener();
    }
  }

  private readonly listeners = new Set<() => void>();
  private next: Mark | null = null;
  private isRefused = false;
  private reading: Promise<void> | null = null;
}
