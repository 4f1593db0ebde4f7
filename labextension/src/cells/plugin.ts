import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { DisposableDelegate } from '@lumino/disposable';

import { OPEN_JOB, RUN_AS_JOB, USE_AS_INPUT } from '../commandIds';
import { projectOf } from '../connection/project';
import type { IJobSnapshot } from '../core/jobModel';
import { acaiIcon } from '../panel/icon';
import { IAcaiConnection } from '../tokens';
import { IViewServices } from '../views/services';
import { CellBar } from './cellBar';
import { CellBars } from './cellBars';
import type { INotebook } from './notebook';
import { cellToRun, runsAsJob, toggleRunAsJob } from './runAsJob';
import { useAsInput } from './useAsInput';

/** How notebooks are called among kinds of documents. */
const NOTEBOOK = 'Notebook';

export const cellsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'acai-jupyter:cells',
  description:
    'Says at each cell that runs as a job how that stands, and makes cells run as jobs.',
  autoStart: true,
  requires: [IAcaiConnection, IViewServices],
  optional: [ICommandPalette],
  activate: activateCells
};

function activateCells(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  services: IViewServices,
  palette: ICommandPalette | null
): void {
  const { commands, docRegistry, shell } = app;
  const notebooks = new Set<INotebook>();
  const current = () =>
    [...notebooks].find(
      one => (one as unknown) === (shell.currentWidget as unknown)
    ) ?? null;
  let last: INotebook | null = null;
  /** The one that was worked in last, also while a tab beside it is looked at. */
  const lastNotebook = () =>
    current() ?? (last?.isDisposed === false ? last : null);
  shell.currentChanged?.connect(() => {
    last = current() ?? last;
  });
  const makeBar = async (snapshot: IJobSnapshot) => {
    const { JobBar } = await import('./bar');
    const { project, number } = snapshot;
    const open = () => {
      // A tab shows jobs of the page's own project.
      void connection
        .connect()
        .then(() =>
          projectOf(connection) === project
            ? commands.execute(OPEN_JOB, { job: number })
            : undefined
        );
    };
    const isOwn =
      connection.state.kind !== 'connected' ||
      projectOf(connection) === project;
    const canOpen = isOwn && commands.hasCommand(OPEN_JOB);
    return new JobBar(snapshot, services, canOpen ? open : null);
  };
  docRegistry.addWidgetExtension(NOTEBOOK, {
    createNew: panel => {
      const notebook = panel as unknown as INotebook;
      const bars = new CellBars(notebook, cell => new CellBar(cell, makeBar));
      const onActive = () => {
        commands.notifyCommandChanged(RUN_AS_JOB);
      };
      notebooks.add(notebook);
      notebook.content.activeCellChanged.connect(onActive);
      return new DisposableDelegate(() => {
        notebooks.delete(notebook);
        bars.dispose();
      });
    }
  });
  commands.addCommand(RUN_AS_JOB, {
    label: 'Run as Job',
    caption: 'Run as Job: begin this cell with %%acai run, or take that away',
    icon: args => (args.toolbar === true ? acaiIcon : undefined),
    isVisible: () => cellToRun(current()) !== null,
    isEnabled: () => cellToRun(current()) !== null,
    isToggled: () => runsAsJob(current()),
    isToggleable: true,
    execute: () => {
      const notebook = current();
      if (notebook !== null) {
        toggleRunAsJob(notebook);
        commands.notifyCommandChanged(RUN_AS_JOB);
      }
    }
  });
  commands.addCommand(USE_AS_INPUT, {
    label: 'Use as Input',
    caption:
      'Add this as an input of the active cell, which runs as a job then',
    isVisible: () => lastNotebook() !== null,
    isEnabled: () => cellToRun(lastNotebook()) !== null,
    execute: ({ spec }) => {
      const notebook = lastNotebook();
      if (typeof spec === 'string' && notebook !== null) {
        useAsInput(notebook, spec);
      }
    }
  });
  palette?.addItem({ command: RUN_AS_JOB, category: 'ACAI' });
}
