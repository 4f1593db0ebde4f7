import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';

import type { ICell, INotebook } from './notebook';

/** One thing at each code cell of a notebook, as cells come and go. */
export class CellBars implements IDisposable {
  constructor(
    private readonly notebook: INotebook,
    private readonly make: (cell: ICell) => IDisposable
  ) {
    this.changed = notebook.context.model.cells.changed;
    this.changed.connect(this.match);
    notebook.disposed.connect(this.end);
    this.match();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this.changed.disconnect(this.match);
      for (const bar of this.bars.values()) {
        bar.dispose();
      }
      this.bars.clear();
    }
  }

  private readonly end = (): void => {
    this.dispose();
  };

  private readonly match = (): void => {
    const cells = this.notebook.content.widgets;
    for (const [cell, bar] of [...this.bars]) {
      if (!cells.includes(cell)) {
        this.bars.delete(cell);
        bar.dispose();
      }
    }
    for (const cell of cells) {
      if (cell.model.type === 'code' && !this.bars.has(cell)) {
        this.bars.set(cell, this.make(cell));
      }
    }
  };

  private readonly changed: ISignal<unknown, unknown>;
  private readonly bars = new Map<ICell, IDisposable>();
  private _isDisposed = false;
}
