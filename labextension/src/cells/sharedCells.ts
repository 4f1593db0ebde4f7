import { LOAD_LINE, secondRun } from '../core/runCell';
import { changeBetween } from '../core/textChange';
import type { ICell, INotebook } from './notebook';

/** Else who undoes what they did would bring back what was one too many, again and again. */
const UNDOABLE = false;
/** Cells whose line this page wrote. */
const watched = new WeakSet();

/** Give a cell another source. Only what differs is changed: somebody else may be writing in the rest. */
export function rewrite(cell: ICell, source: string): void {
  const { sharedModel } = cell.model;
  const before = sharedModel.getSource();
  if (before !== source) {
    const { start, end, text } = changeBetween(before, source);
    sharedModel.updateSource(start, end, text);
  }
}

/**
 * Two who make a cell a job before either hears of the other write a line each. Both take out the same one of the two, which
 * leaves one, and the options behind either.
 */
export function keepOneRunLine(cell: ICell): void {
  const { model } = cell;
  if (watched.has(model)) {
    return;
  }
  watched.add(model);
  const look = () => {
    // What changed is still being told.
    queueMicrotask(() => {
      const { sharedModel } = model;
      const second = cell.isDisposed
        ? null
        : secondRun(sharedModel.getSource());
      if (second !== null) {
        const { start, end } = second;
        sharedModel.transact(() => {
          sharedModel.updateSource(start, end, '');
        }, UNDOABLE);
      }
    });
  };
  model.contentChanged.connect(look);
}

/**
 * The cell that makes our lines known, added by two at once: whose does not stand first takes theirs back. What was run stays.
 */
export function keepOneCell(notebook: INotebook, id: string): void {
  const { cells, sharedModel } = notebook.context.model;
  const look = () => {
    queueMicrotask(() => {
      const loading = notebook.isDisposed ? [] : unrunLoading(notebook);
      const own = loading.findIndex(one => idOf(one) === id);
      const [first] = loading;
      const mine = loading[own];
      if (mine === undefined || first === undefined) {
        cells.changed.disconnect(look);
      } else if (own > 0) {
        cells.changed.disconnect(look);
        withdraw(mine, first);
      }
    });
  };
  const withdraw = (mine: ICell, first: ICell) => {
    const { content } = notebook;
    const wasActive = content.activeCell === mine;
    sharedModel.transact(() => {
      sharedModel.deleteCell(content.widgets.indexOf(mine));
    }, UNDOABLE);
    if (wasActive) {
      content.activeCellIndex = content.widgets.indexOf(first);
    }
  };
  cells.changed.connect(look);
}

function unrunLoading(notebook: INotebook): ICell[] {
  return notebook.content.widgets.filter(
    ({ model }) =>
      model.sharedModel.getSource() === LOAD_LINE &&
      (model.executionCount ?? null) === null &&
      model.executionState !== 'running'
  );
}

function idOf(cell: ICell): string {
  return cell.model.sharedModel.getId();
}
