import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { Widget } from '@lumino/widgets';

import { SUBMIT_FILE } from '../commandIds';
import { projectToName } from '../connection/project';
import { trans } from '../core/translation';
import type { IAcaiConnection } from '../tokens';
import { selectedProgram } from './browsed';
import type { ICell, INotebook } from './notebook';
import type { OpenNotebooks } from './openNotebooks';

/** How notebooks are called among kinds of documents. */
export const NOTEBOOK = 'Notebook';
const AREAS = ['left', 'right', 'main'];

export type OpenForm = (notebook: INotebook, cell: ICell) => Promise<void>;

/** Scripts and notebooks of the file browser, submitted from a notebook: of this page, or of one that is opened. */
export function addSubmit(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  notebooks: OpenNotebooks,
  open: OpenForm,
  hasPages: boolean
): void {
  const { commands, serviceManager, shell } = app;
  const selected = () => {
    const node = app.contextMenuHitTest(() => true);
    const roots = AREAS.flatMap(area => [...widgetsIn(shell, area)]);
    return node === undefined ? '' : selectedProgram(roots, node);
  };
  commands.addCommand(SUBMIT_FILE, {
    label: trans.__('Submit as Job…'),
    caption: trans.__(
      'Choose how this is run as a job, on a line of a notebook'
    ),
    isVisible: args => typeof args.path === 'string' || selected() !== '',
    execute: async args => {
      const path = typeof args.path === 'string' ? args.path : selected();
      await connection.connect();
      const project = projectToName(connection);
      const { specs } = serviceManager.kernelspecs;
      const kernel = specs?.default ?? 'python3';
      if (hasPages && notebooks.last === null) {
        const display_name = specs?.kernelspecs[kernel]?.display_name ?? kernel;
        const { openSubmitPage } = await import('./submitPage');
        await openSubmitPage(
          {
            commands,
            contents: serviceManager.contents,
            kernel: { name: kernel, display_name },
            project
          },
          path
        );
        return;
      }
      const { writeSubmitLine } = await import('./submitFile');
      const written = await writeSubmitLine(
        {
          commands,
          kernel,
          last: notebooks.last,
          at: one => notebooks.at(one)
        },
        path,
        project
      );
      if (written !== null) {
        bringUp(app, written.notebook);
        await open(written.notebook, written.cell);
      }
    }
  });
  if (hasPages) {
    app.docRegistry.addWidgetExtension(NOTEBOOK, {
      createNew: panel => {
        const notebook = panel as unknown as INotebook;
        void import('./submitPage').then(async ({ awaitedCell }) => {
          const cell = await awaitedCell(notebook);
          return cell === null ? undefined : open(notebook, cell);
        });
      }
    });
  }
}

/** Bring a notebook to the front. */
export function bringUp({ shell }: JupyterFrontEnd, { id }: INotebook): void {
  shell.activateById(id);
}

/** What stands in a part of the page; not all kinds of pages have all parts. */
function widgetsIn(
  shell: JupyterFrontEnd.IShell,
  area: string
): Iterable<Widget> {
  try {
    return shell.widgets(area);
  } catch {
    return [];
  }
}
