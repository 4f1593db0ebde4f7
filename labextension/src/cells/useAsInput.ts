import { withInput } from '../core/runCell';
import type { INotebook } from './notebook';
import { cellToRun, makeJob } from './runAsJob';

/** Add an input to the line of the active cell; one that did not run as a job does so then. */
export function useAsInput(notebook: INotebook, spec: string): void {
  const cell = cellToRun(notebook);
  if (cell === null) {
    return;
  }
  const source = cell.model.sharedModel.getSource();
  makeJob(notebook, cell, withInput(source, spec));
}
