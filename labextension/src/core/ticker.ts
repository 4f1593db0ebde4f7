/** One clock for all that counts seconds on a page. It runs only while somebody listens. */
export class Ticker {
  constructor(private readonly everyMs = 1_000) {}

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    this.timer ??= setInterval(() => {
      for (const one of [...this.listeners]) {
        one();
      }
    }, this.everyMs);
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) {
        clearInterval(this.timer);
        this.timer = undefined;
      }
    };
  }

  get isRunning(): boolean {
    return this.timer !== undefined;
  }

  private readonly listeners = new Set<() => void>();
  private timer: ReturnType<typeof setInterval> | undefined;
}
