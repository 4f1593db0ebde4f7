import {
  canBeRunCell,
  isRunCell,
  knowsRunLine,
  LOAD_LINE,
  RUN_LINE,
  toggledRun
} from '../core/runCell';
import type { ICell, INotebook } from './notebook';

/** The cell that would run as a job if one asked for it now; null where none can. */
export function cellToRun(notebook: INotebook | null): ICell | null {
  const cell = notebook?.content.activeCell ?? null;
  if (notebook === null || cell?.model.type !== 'code') {
    return null;
  }
  const { defaultKernelLanguage, readOnly } = notebook.context.model;
  const isPython = ['', 'python'].includes(defaultKernelLanguage.toLowerCase());
  const source = cell.model.sharedModel.getSource();
  return isPython && !readOnly && canBeRunCell(source) ? cell : null;
}

/** Whether that cell runs as a job already. */
export function runsAsJob(notebook: INotebook | null): boolean {
  const cell = cellToRun(notebook);
  return cell !== null && isRunCell(cell.model.sharedModel.getSource());
}

/**
 * Begin the active cell with the line that makes it a job, or take that away. A notebook that does not know the line yet gets
 * a cell above that makes it known.
 */
export function toggleRunAsJob(notebook: INotebook): void {
  const cell = cellToRun(notebook);
  if (cell === null) {
    return;
  }
  const { content, context } = notebook;
  const { sharedModel } = context.model;
  const at = content.activeCellIndex;
  const sources = content.widgets.map(one => one.model.sharedModel.getSource());
  const source = sources[at] ?? '';
  const isMissing = !isRunCell(source) && !knowsRunLine(sources);
  sharedModel.transact(() => {
    cell.model.sharedModel.setSource(toggledRun(source));
    if (isMissing) {
      sharedModel.insertCell(at, {
        cell_type: 'code',
        source: LOAD_LINE,
        // As JupyterLab's own new cells; else the whole notebook is not trusted any more.
        metadata: { trusted: true }
      });
    }
  });
  if (isMissing) {
    // Shift and Enter run it, and then the job.
    content.activeCellIndex = at;
    content.mode = 'command';
  } else {
    content.mode = 'edit';
    cell.editor?.setCursorPosition({ line: 0, column: RUN_LINE.length });
  }
  content.activate();
}
