import {
  ILabShell,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, Notification } from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { DisposableDelegate } from '@lumino/disposable';

import {
  EDIT_JOB,
  OPEN_JOB,
  OPEN_JOBS,
  RUN_AS_JOB,
  USE_AS_INPUT
} from '../commandIds';
import {
  projectMeant,
  projectToName,
  usualProject
} from '../connection/project';
import { type Ran, RUN_LINE } from '../core/runCell';
import { trans } from '../core/translation';
import { acaiIcon, optionsIcon } from '../panel/icon';
import { IAcaiConnection } from '../tokens';
import { IViewServices } from '../views/services';
import { CellBar } from './cellBar';
import { CellBars } from './cellBars';
import type { JobForms } from './jobForms';
import type { INotebook } from './notebook';
import { OpenNotebooks } from './openNotebooks';
import { beginJob, cellToRun, runsAsJob, toggleRunAsJob } from './runAsJob';
import { CellSettings } from './settings';
import { addSubmit, bringUp, NOTEBOOK, type OpenForm } from './submitting';
import { useAsInput } from './useAsInput';

export const cellsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'acai-jupyter:cells',
  description:
    'Says at each cell that runs as a job how that stands, makes cells run as jobs, and shows their options.',
  autoStart: true,
  requires: [IAcaiConnection, IViewServices],
  optional: [ICommandPalette, ISettingRegistry, ILabShell],
  activate: activateCells
};

function activateCells(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  services: IViewServices,
  palette: ICommandPalette | null,
  registry: ISettingRegistry | null,
  labShell: ILabShell | null
): void {
  const notebooks = new OpenNotebooks(app.shell);
  const settings = new CellSettings(registry);
  addBars(app, services, notebooks, settings);
  addButtons(app, connection, notebooks);
  const open = addForms(app, connection, services, notebooks, settings);
  addSubmit(app, connection, notebooks, open, labShell === null);
  for (const command of [RUN_AS_JOB, EDIT_JOB]) {
    palette?.addItem({ command, category: trans.__('ACAI') });
  }
}

function addBars(
  app: JupyterFrontEnd,
  services: IViewServices,
  notebooks: OpenNotebooks,
  settings: CellSettings
): void {
  const { commands } = app;
  const opener = (command: string, args: ReadonlyPartialJSONObject) =>
    commands.hasCommand(command)
      ? () => void commands.execute(command, args)
      : null;
  const makeBar = async ({ kind, snapshot }: Ran) => {
    const { project } = snapshot;
    if (kind === 'job') {
      const { JobBar } = await import('./bar');
      const open = opener(OPEN_JOB, { job: snapshot.number, project });
      return new JobBar(snapshot, services, open);
    }
    const [{ SweepBar }, { clauseFor }] = await Promise.all([
      import('./sweepBar'),
      import('../core/queryText')
    ]);
    const query = clauseFor('tags', snapshot.table.tag);
    const open = opener(OPEN_JOBS, { query, project });
    return new SweepBar(snapshot, services, open);
  };
  const canHave = () => settings.now.bars;
  app.docRegistry.addWidgetExtension(NOTEBOOK, {
    createNew: panel => {
      const notebook = panel as unknown as INotebook;
      const bars = new CellBars(
        notebook,
        cell => new CellBar(cell, makeBar, canHave)
      );
      const onActive = () => {
        commands.notifyCommandChanged(RUN_AS_JOB);
        commands.notifyCommandChanged(EDIT_JOB);
      };
      notebooks.add(notebook);
      notebook.content.activeCellChanged.connect(onActive);
      return new DisposableDelegate(() => {
        notebooks.delete(notebook);
        bars.dispose();
      });
    }
  });
}

function addButtons(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  notebooks: OpenNotebooks
): void {
  const { commands } = app;
  commands.addCommand(RUN_AS_JOB, {
    label: trans.__('Run as Job'),
    caption: trans.__(
      'Run as Job: begin this cell with %1, or take that away',
      RUN_LINE
    ),
    icon: args => (args.toolbar === true ? acaiIcon : undefined),
    isVisible: () => cellToRun(notebooks.current) !== null,
    isEnabled: () => cellToRun(notebooks.current) !== null,
    isToggled: () => runsAsJob(notebooks.current),
    isToggleable: true,
    execute: async () => {
      const notebook = notebooks.current;
      const cell = cellToRun(notebook);
      if (notebook !== null && cell !== null) {
        const wasJob = runsAsJob(notebook);
        await connection.connect();
        toggleRunAsJob(notebook, cell, projectToName(connection), wasJob);
        commands.notifyCommandChanged(RUN_AS_JOB);
      }
    }
  });
  commands.addCommand(USE_AS_INPUT, {
    label: trans.__('Use as Input'),
    caption: trans.__(
      'Add this as an input of the active cell, which runs as a job then'
    ),
    isVisible: () => notebooks.last !== null,
    isEnabled: () => cellToRun(notebooks.last) !== null,
    execute: async ({ spec, project }) => {
      const notebook = notebooks.last;
      if (typeof spec === 'string' && notebook !== null) {
        const own = await projectMeant(connection, project);
        const usual = usualProject(connection);
        const failure = useAsInput(notebook, spec, { usual, own });
        if (failure !== '') {
          Notification.error(failure);
        }
      }
    }
  });
}

function addForms(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  services: IViewServices,
  notebooks: OpenNotebooks,
  settings: CellSettings
): OpenForm {
  const { commands } = app;
  const show = (notebook: INotebook) => {
    bringUp(app, notebook);
  };
  const openGroups = () => settings.now.openGroups;
  let loaded: Promise<JobForms> | null = null;
  const open: OpenForm = async (notebook, cell) => {
    const around = { connection, services, commands, show, openGroups };
    loaded ??= import('./jobForms').then(
      ({ JobForms }) => new JobForms(around)
    );
    await (await loaded).open(notebook, cell);
  };
  commands.addCommand(EDIT_JOB, {
    label: trans.__('Run as Job…'),
    caption: trans.__('Choose how this cell is run as a job'),
    icon: args => (args.toolbar === true ? optionsIcon : undefined),
    isVisible: () => cellToRun(notebooks.current) !== null,
    isEnabled: () => cellToRun(notebooks.current) !== null,
    execute: async () => {
      const notebook = notebooks.current;
      const cell = cellToRun(notebook);
      if (notebook !== null && cell !== null) {
        await connection.connect();
        beginJob(notebook, cell, projectToName(connection));
        await open(notebook, cell);
      }
    }
  });
  return open;
}
