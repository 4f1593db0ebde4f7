/** Asks before a cell is run as a job whose earlier run still goes on. Its state outlives the buttons that show it. */
export class RunQuestion {
  constructor(
    /** Whether an earlier run of the cell still goes on. */
    private readonly isLive: () => boolean,
    private readonly run: () => void
  ) {}

  /** Whether the question is to be shown; it is pointless once the earlier run has ended. */
  get isOpen(): boolean {
    return this.wasAsked && this.isLive();
  }

  /** Whether it was answered last, so that the focus goes back to where it was asked. */
  get wasAnswered(): boolean {
    return this._wasAnswered;
  }

  /** Run, or ask first: decided by what is known at this moment, not when the button was drawn. */
  press(): void {
    this._wasAnswered = false;
    this.wasAsked = this.isLive();
    if (this.wasAsked) {
      this.emit();
    } else {
      this.run();
    }
  }

  /** Run once more. */
  confirm(): void {
    this.close();
    this.run();
  }

  /** Do not run. */
  decline(): void {
    this.close();
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  private close(): void {
    this.wasAsked = false;
    this._wasAnswered = true;
    this.emit();
  }

  private emit(): void {
    for (const listener of [...this.listeners]) {
      listener();
    }
  }

  private wasAsked = false;
  private _wasAnswered = false;
  private readonly listeners = new Set<() => void>();
}

/** Cells that are about to run: a kernel that is still starting does not know of them yet. */
export class StartingRuns<Cell> {
  has(cell: Cell): boolean {
    return (this.counts.get(cell) ?? 0) > 0;
  }

  /** Start a run; the cell counts as starting until it has ended or failed. */
  async during(cell: Cell, start: () => Promise<void>): Promise<void> {
    this.counts.set(cell, (this.counts.get(cell) ?? 0) + 1);
    try {
      await start();
    } finally {
      const left = (this.counts.get(cell) ?? 1) - 1;
      if (left > 0) {
        this.counts.set(cell, left);
      } else {
        this.counts.delete(cell);
      }
    }
  }

  private readonly counts = new Map<Cell, number>();
}
