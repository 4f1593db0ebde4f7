import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';

import { trans } from '../core/translation';
import { IAcaiConnection, IAcaiPanel } from '../tokens';
import { AcaiPanel } from './panel';
import { addProjects, showProjects } from './projects';

const OPEN_PANEL = 'acai:open-panel';

/** After the running kernels (200), before the table of contents (400). */
const RANK = 300;

export const panelPlugin: JupyterFrontEndPlugin<IAcaiPanel> = {
  id: 'acai-jupyter:panel',
  description: 'Adds the panel that says what ACAI is connected to.',
  autoStart: true,
  provides: IAcaiPanel,
  requires: [IAcaiConnection],
  optional: [ICommandPalette, ILayoutRestorer],
  activate: activatePanel
};

function activatePanel(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  palette: ICommandPalette | null,
  restorer: ILayoutRestorer | null
): IAcaiPanel {
  const panel = new AcaiPanel(
    connection,
    below => void showProjects(app, connection, below)
  );
  addProjects(app, connection, palette);
  app.shell.add(panel, 'left', { rank: RANK, type: 'ACAI' });
  restorer?.add(panel, AcaiPanel.id);

  app.commands.addCommand(OPEN_PANEL, {
    label: args =>
      args.isMenu === true
        ? trans.__('ACAI Panel')
        : trans.__('ACAI: Open Panel'),
    caption: trans.__(
      'Show the jobs of the project, and what ACAI is connected to'
    ),
    execute: () => {
      app.shell.activateById(panel.id);
    }
  });
  palette?.addItem({ command: OPEN_PANEL, category: trans.__('ACAI') });
  return panel;
}
