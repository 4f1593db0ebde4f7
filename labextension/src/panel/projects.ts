import type { JupyterFrontEnd } from '@jupyterlab/application';
import {
  type ICommandPalette,
  InputDialog,
  Notification
} from '@jupyterlab/apputils';
import { Menu } from '@lumino/widgets';

import { SWITCH_PROJECT } from '../commandIds';
import { projectOf } from '../connection/project';
import { asAcaiError } from '../core/connectionStore';
import { trans } from '../core/translation';
import type { IAcaiConnection } from '../tokens';

const NO_OTHER = 'acai:no-other-project';

/** Lets people choose which of their projects is shown. */
export function addProjects(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  palette: ICommandPalette | null
): void {
  const { commands } = app;
  const choose = async (project: string) => {
    try {
      await connection.choose(project);
    } catch (error) {
      Notification.error(asAcaiError(error).message);
    }
  };
  commands.addCommand(SWITCH_PROJECT, {
    label: ({ project }) =>
      typeof project === 'string' ? project : trans.__('ACAI: Switch Project…'),
    caption: trans.__('Show the jobs and data of another project'),
    isToggleable: true,
    isToggled: ({ project }) =>
      typeof project === 'string' && project === projectOf(connection),
    execute: async ({ project }) => {
      if (typeof project === 'string') {
        await choose(project);
        return;
      }
      await connection.connect();
      const chosen = await askWhich(connection);
      if (chosen !== null) {
        await choose(chosen);
      }
    }
  });
  commands.addCommand(NO_OTHER, {
    label: trans.__('There is no other project for you here'),
    isEnabled: () => false,
    execute: () => undefined
  });
  palette?.addItem({ command: SWITCH_PROJECT, category: trans.__('ACAI') });
}

/** Show the projects below what was pressed. Asked anew each time: somebody may have been let into one. */
export async function showProjects(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  below: HTMLElement
): Promise<void> {
  const names = await namesIn(connection);
  if (names === null || !below.isConnected) {
    return;
  }
  const menu = new Menu({ commands: app.commands });
  for (const project of names) {
    menu.addItem({ command: SWITCH_PROJECT, args: { project } });
  }
  if (names.length < 2) {
    menu.addItem({ command: NO_OTHER });
  }
  menu.aboutToClose.connect(() => {
    // What was chosen is run behind this.
    requestAnimationFrame(() => {
      menu.dispose();
      below.focus();
    });
  });
  const { left, bottom } = below.getBoundingClientRect();
  menu.open(left, bottom);
}

async function askWhich(connection: IAcaiConnection): Promise<string | null> {
  const names = await namesIn(connection);
  if (names === null) {
    return null;
  }
  const { value } = await InputDialog.getItem({
    title: trans.__('Project to show'),
    items: names,
    current: Math.max(0, names.indexOf(projectOf(connection)))
  });
  return value;
}

async function namesIn(connection: IAcaiConnection): Promise<string[] | null> {
  try {
    return (await connection.projects()).map(one => one.name);
  } catch (error) {
    Notification.error(asAcaiError(error).message);
    return null;
  }
}
