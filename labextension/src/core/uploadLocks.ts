/** The part of the browser's locks that is needed. A lock ends with the page that has it, however that ends. */
export type ILockManager = Pick<LockManager, 'query' | 'request'>;

/**
 * Which page of a browser sends which upload. Without locks, which browsers have on secure pages only (https, or this
 * machine), every page may, and nobody can say whether another does.
 */
export class UploadLocks {
  constructor(private readonly locks?: ILockManager) {}

  /** Whether it can be told what other pages send. */
  get canTell(): boolean {
    return this.locks !== undefined;
  }

  /** Make an upload this page's; false where it is another's. */
  take(id: string): Promise<boolean> {
    const { locks } = this;
    if (locks === undefined || this.own.has(id)) {
      return Promise.resolve(true);
    }
    return new Promise((tell, fail) => {
      const hold = (lock: Lock | null) => {
        tell(lock !== null);
        return lock === null
          ? null
          : new Promise<void>(release => {
              this.own.set(id, release);
            });
      };
      locks.request(nameOf(id), { ifAvailable: true }, hold).catch(fail);
    });
  }

  release(id: string): void {
    this.own.get(id)?.();
    this.own.delete(id);
  }

  /** The uploads of other pages, of some. */
  async others(ids: readonly string[]): Promise<Set<string>> {
    const { held = [] } = (await this.locks?.query()) ?? {};
    const names = new Set(held.map(one => one.name));
    return new Set(
      ids.filter(id => names.has(nameOf(id)) && !this.own.has(id))
    );
  }

  /** Wait until the page that sends it has ended, or ended with it. */
  async whenFree(id: string): Promise<void> {
    await this.locks?.request(nameOf(id), { mode: 'shared' }, () => undefined);
  }

  private readonly own = new Map<string, () => void>();
}

function nameOf(id: string): string {
  return `acai-jupyter:upload:${id}`;
}
