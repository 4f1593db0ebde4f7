const NONE: readonly string[] = [];

/** Which files and folders of a project are chosen, and which were deleted and can be brought back; of folders paths end in `/`. */
export class ChosenFiles {
  paths: ReadonlySet<string> = new Set();

  /** What was deleted last and is not there again. */
  get deleted(): readonly string[] {
    return this.gone.at(-1) ?? NONE;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  choose(paths: ReadonlySet<string>): void {
    this.paths = paths;
    this.tell();
  }

  /** Of these files some are deleted: they are chosen no more, nor are folders of which nothing is left. */
  remove(asked: readonly string[], done: readonly string[]): void {
    const isGone = new Set(done);
    const left = asked.filter(path => !isGone.has(path));
    const isLeft = (path: string) =>
      path.endsWith('/')
        ? left.some(one => one.startsWith(path))
        : !isGone.has(path);
    this.paths = new Set([...this.paths].filter(isLeft));
    if (done.length > 0) {
      this.gone.push(done);
    }
    this.tell();
  }

  /** Not all of what was deleted last came back when that was tried. */
  get isRefused(): boolean {
    return this.refused.has(this.deleted);
  }

  /** Of what was deleted together these are there again; what was deleted before comes next. */
  restore(group: readonly string[], done: readonly string[]): void {
    const isBack = new Set(done);
    const rest = group.filter(path => !isBack.has(path));
    this.replace(group, rest);
    this.refused.add(rest);
    this.tell();
  }

  /** Nobody wants to bring back any more what was deleted last. */
  dismiss(): void {
    this.replace(this.deleted, []);
    this.tell();
  }

  private replace(group: readonly string[], rest: readonly string[]): void {
    const at = this.gone.indexOf(group);
    if (at >= 0) {
      this.gone.splice(at, 1, ...(rest.length > 0 ? [rest] : []));
    }
  }

  private tell(): void {
    for (const listener of [...this.listeners]) {
      listener();
    }
  }

  private readonly gone: (readonly string[])[] = [];
  private readonly refused = new WeakSet<readonly string[]>();
  private readonly listeners = new Set<() => void>();
}
