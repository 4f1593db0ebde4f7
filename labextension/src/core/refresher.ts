/** Does something anew when it may not hold any more: once in a while at most, and only while somebody looks. */
export class Refresher {
  constructor(
    private readonly act: () => Promise<void>,
    private readonly pauseMs = 1_000
  ) {}

  doubt(): void {
    this.isStale = true;
    this.actSoon();
  }

  setSeen(isSeen: boolean): void {
    this.isSeen = isSeen;
    this.actSoon();
  }

  /** Safe to call twice. */
  dispose(): void {
    this.isSeen = false;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private actSoon(): void {
    if (this.isSeen && this.isStale && this.timer === undefined) {
      this.timer = setTimeout(() => {
        this.isStale = false;
        void this.act().finally(() => {
          this.timer = undefined;
          this.actSoon();
        });
      }, this.pauseMs);
    }
  }

  private isSeen = false;
  private isStale = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
}
