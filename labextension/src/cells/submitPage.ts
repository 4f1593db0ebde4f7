import type { Contents } from '@jupyterlab/services';
import type { CommandRegistry } from '@lumino/commands';

import { jobLineIn } from '../core/jobLine';
import { LOAD_LINE } from '../core/runCell';
import { folderOf } from '../core/specText';
import type { ICell, INotebook } from './notebook';
import { submitLine } from './submitFile';

/** What a page that has just been opened is to show the options of. */
const AWAITED = 'acai-jupyter:options-of';

/** What a notebook says of its kernel. */
interface IKernel {
  name: string;
  display_name: string;
}

/**
 * Where each notebook has a page of its own, as in Notebook 7: make one beside a script that holds the line which submits it, and
 * open its page, which then shows the options of that line.
 */
export async function openSubmitPage(
  page: {
    commands: CommandRegistry;
    contents: Contents.IManager;
    kernel: IKernel;
    /** Empty where it need not be named. */
    project: string;
  },
  script: string
): Promise<void> {
  const { commands, contents, kernel, project } = page;
  const { path } = (await commands.execute('docmanager:new-untitled', {
    path: folderOf(script).replace(/\/$/, ''),
    type: 'notebook'
  })) as { path: string };
  await contents.save(path, {
    type: 'notebook',
    format: 'json',
    content: {
      cells: [LOAD_LINE, submitLine(path, script, project)].map(codeCell),
      metadata: { kernelspec: kernel },
      nbformat: 4,
      nbformat_minor: 5
    }
  });
  window.localStorage.setItem(AWAITED, path);
  await commands.execute('docmanager:open', { path, factory: 'Notebook' });
}

/** The cell whose options somebody waits for, who has opened this notebook for them; asked once. */
export async function awaitedCell(notebook: INotebook): Promise<ICell | null> {
  const { content, context, revealed } = notebook;
  await revealed; // never, on the page that opens another one for it
  if (window.localStorage.getItem(AWAITED) !== context.path) {
    return null;
  }
  window.localStorage.removeItem(AWAITED);
  const at = content.widgets.findIndex(
    one => jobLineIn(one.model.sharedModel.getSource()) !== null
  );
  content.activeCellIndex = Math.max(at, 0);
  return content.widgets[at] ?? null;
}

function codeCell(source: string, at: number): object {
  return {
    cell_type: 'code',
    id: `acai-${at}`,
    source,
    execution_count: null,
    outputs: [],
    metadata: {}
  };
}
