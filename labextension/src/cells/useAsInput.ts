import { isRunCell, projectNamedIn, withInput } from '../core/runCell';
import { trans } from '../core/translation';
import type { INotebook } from './notebook';
import { cellToRun, makeJob } from './runAsJob';

/** The projects that lines mean which name none, and of what is to be an input. */
export interface IProjects {
  usual: string;
  own: string;
}

/**
 * Add an input to the line of the active cell; one that did not run as a job does so then. Returns why that cannot be: a job
 * reads what is in its own project.
 */
export function useAsInput(
  notebook: INotebook,
  spec: string,
  { usual, own }: IProjects
): string {
  const cell = cellToRun(notebook);
  if (cell === null) {
    return '';
  }
  const source = cell.model.sharedModel.getSource();
  const theirs = projectNamedIn(source) || usual;
  if (isRunCell(source) && theirs !== own) {
    return trans.__(
      '%1 is in project %2, and the job of this cell is in %3: use it in a cell of its own.',
      spec,
      own,
      theirs
    );
  }
  makeJob(notebook, cell, withInput(source, spec, own === usual ? '' : own));
  return '';
}
