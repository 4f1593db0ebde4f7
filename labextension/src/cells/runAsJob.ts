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
import { keepOneRunLine, keepOneCell, rewrite } from './sharedCells';

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

/**
 * Begin a cell with the line that makes it a job, or take that away. `wasJob` is what somebody saw who asked for it: what another
 * did meanwhile is not undone by that.
 */
export function toggleRunAsJob(
  notebook: INotebook,
  cell: ICell,
  project: string,
  wasJob: boolean
): void {
  const { content } = notebook;
  const at = content.widgets.indexOf(cell);
  const source = at < 0 ? '' : cell.model.sharedModel.getSource();
  if (at < 0 || isRunCell(source) !== wasJob) {
    return;
  }
  let isMissing = false;
  if (wasJob) {
    rewrite(cell, toggledRun(source));
  } else {
    isMissing = makeJob(notebook, cell, toggledRun(source, project));
  }
  if (isMissing) {
    // Shift and Enter run it, and then the job.
    content.activeCellIndex = at;
    content.mode = 'command';
  } else {
    content.activeCellIndex = at;
    content.mode = 'edit';
    const column = runLine(project).length;
    cell.editor?.setCursorPosition({ line: 0, column });
  }
  content.activate();
}

/**
 * Give a cell a source that needs our lines. Where no cell above makes them known, one is added; returns whether it was.
 */
export function makeJob(
  notebook: INotebook,
  cell: ICell,
  source: string
): boolean {
  const { sharedModel } = notebook.context.model;
  const cells = notebook.content.widgets;
  const at = cells.indexOf(cell);
  const isMissing = !knowsRunLine(
    cells
      .slice(0, at)
      .filter(({ model }) => model.type === 'code')
      .map(({ model }) => model.sharedModel.getSource())
  );
  if (!isMissing && cell.model.sharedModel.getSource() === source) {
    return false;
  }
  let added = '';
  sharedModel.transact(() => {
    rewrite(cell, source);
    if (isMissing) {
      added = sharedModel.insertCell(at, newCell(LOAD_LINE)).getId();
    }
  });
  keepOneRunLine(cell);
  if (isMissing) {
    keepOneCell(notebook, added);
  }
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
