import {
  ILayoutRestorer,
  IRouter,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { ISettingRegistry } from '@jupyterlab/settingregistry';

import {
  COMPARE_JOBS,
  OPEN_JOB,
  OPEN_JOBS,
  OPEN_LINKED_JOB
} from '../commandIds';
import { projectClient, projectMeant } from '../connection/project';
import { placeIn } from '../core/logLink';
import { trans } from '../core/translation';
import { acaiIcon } from '../panel/icon';
import { MainTabs } from '../panel/mainTabs';
import { IAcaiConnection } from '../tokens';
import { IViewServices } from '../views/services';
import { ColumnChoice } from './columns';

/** Behind a terminal and files. */
const LAUNCHER_RANK = 10;

export const jobsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'acai-jupyter:jobs',
  description:
    'Shows the table of jobs, each job, and two of them side by side in the main area.',
  autoStart: true,
  requires: [IAcaiConnection, IViewServices],
  optional: [
    ICommandPalette,
    ILayoutRestorer,
    ISettingRegistry,
    ILauncher,
    IRouter
  ],
  activate: activateJobs
};

function activateJobs(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  services: IViewServices,
  palette: ICommandPalette | null,
  restorer: ILayoutRestorer | null,
  registry: ISettingRegistry | null,
  launcher: ILauncher | null,
  router: IRouter | null
): void {
  const tabs = new MainTabs(app, 'acai-jobs');
  addJob(app, connection, services, tabs);
  addCompare(app, connection, tabs);
  addTable(app, connection, tabs, new ColumnChoice(registry));
  palette?.addItem({ command: OPEN_JOBS, category: trans.__('ACAI') });
  launcher?.add({
    command: OPEN_JOBS,
    args: { isLauncher: true },
    rank: LAUNCHER_RANK
  });
  if (restorer !== null) {
    tabs.restore(restorer);
  }
  if (router !== null) {
    addLinks(app, router);
  }
}

function addJob(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  services: IViewServices,
  tabs: MainTabs
): void {
  const { commands } = app;
  commands.addCommand(OPEN_JOB, {
    label: args =>
      typeof args.job === 'number'
        ? trans.__('Open Job %1', args.job)
        : trans.__('Open Job'),
    caption: trans.__('Show a job in a tab of its own'),
    isVisible: args => typeof args.job === 'number',
    execute: async ({ job, project: named, line, attempt }) => {
      if (typeof job !== 'number' || !Number.isSafeInteger(job)) {
        return;
      }
      const [{ JobTab }, project] = await Promise.all([
        import('./jobTab'),
        projectMeant(connection, named)
      ]);
      const tab = await tabs.show(
        JobTab.idOf(job, project),
        { command: OPEN_JOB, job, project },
        () => new JobTab(job, connection.inProject(project), services)
      );
      if (tab instanceof JobTab && typeof line === 'number') {
        tab.showLine(line, typeof attempt === 'number' ? attempt : 0);
      }
    }
  });
}

/** Open what the address of the page links to, once what was open before is there again. */
function addLinks(app: JupyterFrontEnd, router: IRouter): void {
  const { commands } = app;
  commands.addCommand(OPEN_LINKED_JOB, {
    label: trans.__('Open the Linked Line of a Log'),
    isVisible: () => false,
    execute: ({ search }) => {
      const place = typeof search === 'string' ? placeIn(search) : null;
      if (place !== null) {
        const { job, attempt, line, project } = place;
        const args = { job, attempt, line, project };
        void app.restored.then(() => commands.execute(OPEN_JOB, args));
      }
    }
  });
  router.register({ command: OPEN_LINKED_JOB, pattern: /[?&]acai-job=/ });
}

function addCompare(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  tabs: MainTabs
): void {
  app.commands.addCommand(COMPARE_JOBS, {
    label: trans.__('Compare Jobs'),
    caption: trans.__('Show in what two jobs differ'),
    isVisible: args => typeof args.before === 'number',
    execute: async ({ before, after, project: named }) => {
      if (typeof before !== 'number' || typeof after !== 'number') {
        return;
      }
      const [{ CompareTab }, project] = await Promise.all([
        import('./compareTab'),
        projectMeant(connection, named)
      ]);
      await connection.connect();
      await tabs.show(
        CompareTab.idOf(before, after, project),
        { command: COMPARE_JOBS, before, after, project },
        () => new CompareTab(before, after, connection.inProject(project))
      );
    }
  });
}

function addTable(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  tabs: MainTabs,
  choice: ColumnChoice
): void {
  const { commands } = app;
  commands.addCommand(OPEN_JOBS, {
    label: args =>
      args.isMenu === true || args.isLauncher === true
        ? trans.__('ACAI Jobs')
        : trans.__('ACAI: Open Jobs'),
    icon: args => (args.isLauncher === true ? acaiIcon : undefined),
    caption: trans.__('Show all jobs of the project in a table'),
    execute: async ({ query, project: named }) => {
      const [{ JobsTab }, columns, project] = await Promise.all([
        import('./jobsTab'),
        choice.read(),
        projectMeant(connection, named)
      ]);
      const asked = typeof query === 'string' ? query : '';
      const make = () => {
        const own = connection.inProject(project);
        return new JobsTab({
          connection: own,
          client: projectClient(own),
          query: asked,
          columns,
          onColumns: chosen => void choice.write(chosen),
          onOpen: job => void commands.execute(OPEN_JOB, { job, project }),
          onCompare: (before, after) =>
            void commands.execute(COMPARE_JOBS, { before, after, project })
        });
      };
      const tab = await tabs.show(
        JobsTab.idOf(project),
        { command: OPEN_JOBS, query: asked, project },
        make
      );
      if (typeof query === 'string' && tab instanceof JobsTab) {
        tab.choose(query);
      }
    }
  });
}
