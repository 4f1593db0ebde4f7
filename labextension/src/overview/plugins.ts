import {
  ILabShell,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';

import { OPEN_JOB, OPEN_PANEL } from '../commandIds';
import { countsOf } from '../core/overviewText';
import { trans } from '../core/translation';
import { IAcaiConnection, IAcaiOverview, IAcaiPanel } from '../tokens';
import { FollowedOverview } from './following';
import { followEnds } from './notices';
import { followSettings } from './settings';
import { StatusItem } from './statusItem';

/** Above what the panel says of its connection. */
const JOBS_RANK = 100;
/** Beside the menus of Notebook 7: behind the space (900), before whether a notebook is trusted (11,000). */
const MENU_RANK = 10_000;

export const overviewPlugin: JupyterFrontEndPlugin<IAcaiOverview> = {
  id: 'acai-jupyter:overview',
  description:
    'Follows the jobs of the project, and tells of those that end while nobody looks.',
  autoStart: true,
  requires: [IAcaiConnection],
  optional: [ISettingRegistry],
  provides: IAcaiOverview,
  activate: activateOverview
};

export const statusPlugin: JupyterFrontEndPlugin<void> = {
  id: 'acai-jupyter:status',
  description:
    'Says in the status bar, or beside the menus, how many jobs run and what today cost.',
  autoStart: true,
  requires: [IAcaiConnection, IAcaiOverview],
  optional: [IStatusBar, ILabShell],
  activate: activateStatus
};

export const jobsSectionPlugin: JupyterFrontEndPlugin<void> = {
  id: 'acai-jupyter:jobs-section',
  description: 'Lists running, waiting and recent jobs in the panel.',
  autoStart: true,
  requires: [IAcaiConnection, IAcaiOverview, IAcaiPanel],
  activate: activateSection
};

function activateOverview(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  registry: ISettingRegistry | null
): IAcaiOverview {
  const overview = new FollowedOverview(connection);
  let hasNotifications = false;
  followEnds(
    connection,
    () => hasNotifications,
    () =>
      app.commands.hasCommand(OPEN_JOB)
        ? (job, project) =>
            void app.commands.execute(OPEN_JOB, { job, project })
        : null
  );
  void followSettings(registry, settings => {
    hasNotifications = settings.notifications;
    if (settings.followAtStart) {
      // The page comes first: the server opens its database at our first question.
      void app.restored.then(() => connection.connect());
    }
  });
  return overview;
}

function activateStatus(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  overview: IAcaiOverview,
  statusBar: IStatusBar | null,
  labShell: ILabShell | null
): void {
  if (statusBar === null && labShell !== null) {
    return; // whoever turned the status bar off wants none
  }
  const item = new StatusItem(overview.store, connection, {
    isThere: () => app.commands.hasCommand(OPEN_PANEL),
    open: () => void app.commands.execute(OPEN_PANEL)
  });
  if (statusBar === null) {
    item.id = 'acai-status';
    app.shell.add(item, 'menu', { rank: MENU_RANK });
    return;
  }
  statusBar.registerStatusItem('acai-jupyter:status', {
    item,
    align: 'left',
    rank: 20,
    isActive: () => item.isActive,
    activeStateChanged: item.activeChanged
  });
}

function activateSection(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  overview: IAcaiOverview,
  panel: IAcaiPanel
): void {
  overview.store.subscribe(() => {
    const found = overview.store.overview;
    const running = found === null ? 0 : countsOf(found).running;
    panel.setBadge(running === 0 ? '' : String(running));
  });
  panel.addSection({
    title: trans.__('Jobs'),
    rank: JOBS_RANK,
    isOpen: true,
    load: async () => {
      const { OverviewContent } = await import('./content');
      return new OverviewContent(connection, overview.store, app.commands);
    }
  });
}
