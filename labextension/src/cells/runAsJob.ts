import {
  canBeRunCell,
  isRunCell,
  knowsRunLine,
  LOAD_LINE,
  runLine,
  toggledRun
} from '../core/runCell';
import { jobLineIn } from '../core/jobLine';
import type { ICell, INotebook } from './notebook';

/** The cell that would run as a job if one asked for it now; null where none can. */
export function cellToRun(notebook: INotebook | null): ICell | null {
  const cell = notebook?.content.activeCell ?? null;
  if (notebook === null || cell?.model.type !== 'code') {
    return null;
  }
  const source = cell.model.sharedModel.getSource();
  return isOfPython(notebook) && canBeRunCell(source) ? cell : null;
}

/** Whether our lines can be written into it. */
export function isOfPython(notebook: INotebook): boolean {
  const { defaultKernelLanguage, readOnly } = notebook.context.model;
  const language = defaultKernelLanguage.toLowerCase();
  return !readOnly && ['', 'python'].includes(language);
}

/** Let a cell run as a job that does not, nor submits a script. `project` is empty where it goes without saying. */
export function beginJob(
  notebook: INotebook,
  cell: ICell,
  project: string
): void {
  const source = cell.model.sharedModel.getSource();
  const isBegun = jobLineIn(source) !== null;
  makeJob(notebook, cell, isBegun ? source : toggledRun(source, project));
}

/** Whether that cell runs as a job already. */
export function runsAsJob(notebook: INotebook | null): boolean {
  const cell = cellToRun(notebook);
  return cell !== null && isRunCell(cell.model.sharedModel.getSource());
}

/** Begin the active cell with the line that makes it a job, or take that away. */
export function toggleRunAsJob(notebook: INotebook, project: string): void {
  const cell = cellToRun(notebook);
  if (cell === null) {
    return;
  }
  const { content } = notebook;
  const at = content.activeCellIndex;
  const source = cell.model.sharedModel.getSource();
  const isMissing = isRunCell(source)
    ? rewrite(cell, toggledRun(source))
    : makeJob(notebook, cell, toggledRun(source, project));
  if (isMissing) {
    // Shift and Enter run it, and then the job.
    content.activeCellIndex = at;
    content.mode = 'command';
  } else {
    content.mode = 'edit';
    const column = runLine(project).length;
    cell.editor?.setCursorPosition({ line: 0, column });
  }
  content.activate();
}

/**
 * Give a cell a source that needs our lines. A notebook that does not know them yet gets a cell above that makes them known;
 * returns whether it did.
 */
export function makeJob(
  notebook: INotebook,
  cell: ICell,
  source: string
): boolean {
  const { sharedModel } = notebook.context.model;
  const cells = notebook.content.widgets;
  const isMissing = !knowsRunLine(
    cells.map(one => one.model.sharedModel.getSource())
  );
  if (!isMissing && cell.model.sharedModel.getSource() === source) {
    return false;
  }
  sharedModel.transact(() => {
    rewrite(cell, source);
    if (isMissing) {
      sharedModel.insertCell(cells.indexOf(cell), newCell(LOAD_LINE));
    }
  });
  return isMissing;
}

/** A cell of code, as JupyterLab's own new ones: trusted, else the whole notebook is not any more. */
export function newCell(source: string): {
  cell_type: 'code';
  source: string;
  metadata: { trusted: boolean };
} {
  return { cell_type: 'code', source, metadata: { trusted: true } };
}

function rewrite(cell: ICell, source: string): false {
  cell.model.sharedModel.setSource(source);
  return false;
}
