/** Which files and folders of a project are chosen, and which were deleted and can be brought back; of folders paths end in `/`. */
export class ChosenFiles {
  paths: ReadonlySet<string> = new Set();

  /** What was deleted last and is not there again. */
  get deleted(): readonly string[] {
    return this.gone.at(-1) ?? [];
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

  /** Of what was deleted last these are there again; what was deleted before comes next. */
  restore(done: readonly string[]): void {
    const rest = (this.gone.pop() ?? []).filter(path => !done.includes(path));
    if (rest.length > 0) {
      this.gone.push(rest);
    }
    this.tell();
  }

  private tell(): void {
    for (const listener of [...this.listeners]) {
      listener();
    }
  }

  private readonly gone: (readonly string[])[] = [];
  private readonly listeners = new Set<() => void>();
}
