import { LOAD_LINE, knowsRunLine, withInput } from '../core/runCell';
import type { INotebook } from './notebook';
import { cellToRun } from './runAsJob';

/** Add an input to the line of the active cell; one that did not run as a job does so then. */
export function useAsInput(notebook: INotebook, spec: string): void {
  const cell = cellToRun(notebook);
  if (cell === null) {
    return;
  }
  const { content, context } = notebook;
  const { sharedModel } = context.model;
  const sources = content.widgets.map(one => one.model.sharedModel.getSource());
  sharedModel.transact(() => {
    const own = cell.model.sharedModel;
    own.setSource(withInput(own.getSource(), spec));
    if (!knowsRunLine(sources)) {
      sharedModel.insertCell(content.activeCellIndex, {
        cell_type: 'code',
        source: LOAD_LINE,
        metadata: { trusted: true }
      });
    }
  });
}
