import type { IDisposable } from '@lumino/disposable';
import { PanelLayout, type Widget } from '@lumino/widgets';

import { isSame } from '../core/jobSnapshot';
import { isRunCell, type Ran, ranIn } from '../core/runCell';
import { isSameSweep } from '../core/sweepSnapshot';
import type { ICell, ICellModel, IOutputModel } from './notebook';

/** Below the cell's header, above its code. */
export const PLACE = 1;

/** The bar of one cell: there while the cell runs as a job, or a sweep of them, and its output names it. */
export class CellBar implements IDisposable {
  constructor(
    private readonly cell: ICell,
    private readonly makeBar: (ran: Ran) => Promise<Widget>,
    private readonly canHave: () => boolean
  ) {
    this.model = cell.model;
    this.model.contentChanged.connect(this.look);
    this.model.outputs?.changed.connect(this.look);
    cell.disposed.connect(this.end);
    this.look();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this.model.contentChanged.disconnect(this.look);
      this.model.outputs?.changed.disconnect(this.look);
      this.shown?.dispose();
    }
  }

  private readonly end = (): void => {
    this.dispose();
  };

  private readonly look = (): void => {
    const found = isRunCell(this.model.sharedModel.getSource())
      ? ranIn(outputsOf(this.model))
      : null;
    const before = this.ran;
    if (
      found === before ||
      (found !== null && before !== null && isOfOne(found, before))
    ) {
      return;
    }
    this.ran = found;
    this.shown?.dispose();
    this.shown = null;
    if (found !== null) {
      void this.show(found);
    }
  };

  private async show(ran: Ran): Promise<void> {
    await this.cell.ready;
    if (!this.canHave()) {
      return;
    }
    const bar = await this.makeBar(ran);
    const { layout } = this.cell;
    if (
      this.ran === ran &&
      !this._isDisposed &&
      layout instanceof PanelLayout
    ) {
      this.shown = bar;
      layout.insertWidget(PLACE, bar);
    } else {
      bar.dispose();
    }
  }

  /** A cell that is gone has none any more. */
  private readonly model: ICellModel;
  private ran: Ran | null = null;
  private shown: Widget | null = null;
  private _isDisposed = false;
}

/** Whether both are the same job or sweep, however it stood. */
export function isOfOne(one: Ran, other: Ran): boolean {
  if (one.kind === 'job') {
    return other.kind === 'job' && isSame(one.snapshot, other.snapshot);
  }
  return other.kind === 'sweep' && isSameSweep(one.snapshot, other.snapshot);
}

/** What the outputs hold, but for lines that were printed: those are many, and no jobs. */
export function outputsOf(model: ICellModel): IOutputModel['data'][] {
  const { outputs } = model;
  const found: IOutputModel['data'][] = [];
  for (let at = 0; at < (outputs?.length ?? 0); at += 1) {
    const output = outputs?.get(at);
    if (output !== undefined && output.type !== 'stream') {
      found.push(output.data);
    }
  }
  return found;
}
