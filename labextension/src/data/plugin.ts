import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, Notification } from '@jupyterlab/apputils';
import { PageConfig } from '@jupyterlab/coreutils';

import {
  COMPARE_SETS,
  COMPARE_VERSIONS,
  OPEN_DATA,
  OPEN_FILE,
  OPEN_FILE_VERSION,
  OPEN_PROVENANCE,
  OPEN_SET,
  USE_AS_INPUT
} from '../commandIds';
import { projectAround, projectMeant } from '../connection/project';
import { trans } from '../core/translation';
import { MainTabs } from '../panel/mainTabs';
import { IAcaiConnection } from '../tokens';
import { DRIVE, VersionsDrive } from './drive';
import { DataPanel } from './dataPanel';
import { isolate } from './isolation';
import { Loaded } from './loaded';

/** Below the panel of jobs (300), before the table of contents (400). */
const RANK = 310;

export const dataPlugin: JupyterFrontEndPlugin<void> = {
  id: 'acai-jupyter:data',
  description: 'Shows files and file sets, their versions and what they hold.',
  autoStart: true,
  requires: [IAcaiConnection],
  optional: [ICommandPalette, ILayoutRestorer],
  activate: activateData
};

function activateData(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  palette: ICommandPalette | null,
  restorer: ILayoutRestorer | null
): void {
  leaveAddress();
  const tabs = new MainTabs(app, 'acai-data');
  const loaded = new Loaded(app, connection);
  const panel = new DataPanel(loaded);
  // eslint-disable-next-line acai/untranslated -- a person's layout names it
  app.shell.add(panel, 'left', { rank: RANK, type: 'ACAI Data' });
  restorer?.add(panel, DataPanel.id);
  if (restorer !== null) {
    tabs.restore(restorer);
  }
  app.commands.addCommand(OPEN_DATA, {
    label: args =>
      args.isMenu === true
        ? trans.__('ACAI Data')
        : trans.__('ACAI: Open Data'),
    caption: trans.__('Show the files and file sets of the project'),
    execute: () => {
      app.shell.activateById(panel.id);
    }
  });
  palette?.addItem({ command: OPEN_DATA, category: trans.__('ACAI') });
  addPreviews(app, connection, loaded);
  addMenus(app, connection, loaded);
  addFile(app, connection, loaded, tabs);
  addSet(app, connection, loaded, tabs);
}

/** Versions of files open in JupyterLab's own viewers; beside what these show it is said which version it is. */
function addPreviews(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  loaded: Loaded
): void {
  const { commands, serviceManager } = app;
  const drive = new VersionsDrive(
    serviceManager.serverSettings,
    async (path, options) => (await loaded.models()).model(path, options),
    async path => (await loaded.models()).url(path)
  );
  serviceManager.contents.addDrive(drive);
  addToViewers(app, (widget, { path, sessionContext }) => {
    if (path.startsWith(`${DRIVE}:`)) {
      isolate(widget);
      // Who reads what was, runs nothing by it.
      sessionContext.kernelPreference = {
        ...sessionContext.kernelPreference,
        shouldStart: false,
        canStart: false,
        autoStartDefault: false
      };
      void loaded.models().then(models => {
        models.addParts(widget, path);
      });
    }
  });
  commands.addCommand(OPEN_FILE_VERSION, {
    label: trans.__('Open Version'),
    caption: trans.__('Show what a version of a file holds'),
    isVisible: args => typeof args.path === 'string',
    execute: async ({ path, version, part, project: named }) => {
      if (typeof path !== 'string' || typeof version !== 'number') {
        return;
      }
      const [{ previewPath }, project] = await Promise.all([
        import('../core/previews'),
        projectMeant(connection, named)
      ]);
      const name = previewPath({
        project,
        path,
        version,
        part: typeof part === 'number' ? part : 1
      });
      await commands.execute('docmanager:open', {
        path: `${DRIVE}:${name}`,
        ...viewerOf(path)
      });
    }
  });
}

/** The viewer of a version, where it is another than that of its kind: drawings of Vega can load from any host. */
function viewerOf(path: string): { factory?: string } {
  if (/\.(?:parquet|pq)$/i.test(path)) {
    return { factory: 'CSVTable' };
  }
  return /\.(?:vega|vegalite|vg|vl)(?:\.json)?$/i.test(path)
    ? { factory: 'JSON' }
    : {};
}

type Registry = JupyterFrontEnd['docRegistry'];
type WidgetExtension = Parameters<Registry['addWidgetExtension']>[1];

/** Add to whatever a viewer shows, of all viewers that there are and will be. */
function addToViewers(
  { docRegistry }: JupyterFrontEnd,
  createNew: WidgetExtension['createNew']
): void {
  const add = (name: string) => {
    docRegistry.addWidgetExtension(name, { createNew });
  };
  for (const { name } of docRegistry.widgetFactories()) {
    add(name);
  }
  docRegistry.changed.connect((_, { type, name, change }) => {
    if (type === 'widgetFactory' && change === 'added' && name !== undefined) {
      add(name);
    }
  });
}

/**
 * The page's address names the document that was looked at, and JupyterLab looks for it in a file browser, where none of ours is.
 * Taken out before the page reads it; the document is opened again with the layout.
 */
function leaveAddress(): void {
  const { href } = window.location;
  const plain = href.replace(/\/tree\/+acai(?::|%3A)[^?#]*/i, '');
  if (plain !== href) {
    window.history.replaceState(null, '', plain);
    PageConfig.setOption('treePath', '');
  }
}

function addFile(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  loaded: Loaded,
  tabs: MainTabs
): void {
  const { commands } = app;
  commands.addCommand(OPEN_FILE, {
    label: trans.__('Open Versions'),
    caption: trans.__('Show the versions of a file in a tab'),
    isVisible: args => typeof args.path === 'string',
    execute: async ({ path, project: named }) => {
      if (typeof path !== 'string') {
        return;
      }
      const [{ FileTab }, services, project] = await Promise.all([
        import('./tabs'),
        loaded.services(),
        projectMeant(connection, named)
      ]);
      await tabs.show(
        FileTab.idOf(path, project),
        { command: OPEN_FILE, path, project },
        () => new FileTab(path, services.inProject(project))
      );
    }
  });
  commands.addCommand(COMPARE_VERSIONS, {
    label: trans.__('Compare Versions'),
    caption: trans.__('Show in which lines two versions of a file differ'),
    isVisible: args => typeof args.path === 'string',
    execute: async ({ path, before, after, project: named }) => {
      if (
        typeof path !== 'string' ||
        typeof before !== 'number' ||
        typeof after !== 'number'
      ) {
        return;
      }
      const [{ DiffTab }, services, project] = await Promise.all([
        import('./tabs'),
        loaded.services(),
        projectMeant(connection, named)
      ]);
      await connection.connect();
      await tabs.show(
        DiffTab.idOf(path, before, after, project),
        { command: COMPARE_VERSIONS, path, before, after, project },
        () =>
          new DiffTab(path, before, after, project, services.inProject(project))
      );
    }
  });
}

/** On anything of ours that says which file or set it is, wherever it stands on the page. */
function addMenus(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  loaded: Loaded
): void {
  const { commands, contextMenu } = app;
  const under = () => {
    const node = app.contextMenuHitTest(
      one =>
        one.dataset.acaiFile !== undefined ||
        one.dataset.acaiThing !== undefined
    );
    return {
      isFile: node?.dataset.acaiFile !== undefined,
      spec: node?.dataset.acaiFile ?? node?.dataset.acaiThing ?? '',
      project: projectAround(node)
    };
  };
  commands.addCommand(SHOW_FILE_PROVENANCE, {
    label: trans.__('Show Provenance'),
    caption: trans.__(
      'Draw what the file set came from that this version was first in'
    ),
    // A job may stand in the row of a file.
    isVisible: () => commands.hasCommand(OPEN_PROVENANCE) && under().isFile,
    execute: async () => {
      const { spec, project: named } = under();
      const [services, project] = await Promise.all([
        loaded.services(),
        projectMeant(connection, named)
      ]);
      const client = services.clientOf(project);
      const { action, through } = await client.origin(spec);
      const set = action?.outputs[0] ?? through.at(-1);
      if (set === undefined) {
        Notification.info(
          trans.__('%1 is in no file set, so nothing is drawn.', spec)
        );
      } else {
        await commands.execute(OPEN_PROVENANCE, { spec: set, project });
      }
    }
  });
  commands.addCommand(USE_THIS_AS_INPUT, {
    label: trans.__('Use as Input'),
    caption: trans.__(
      'Add this as an input of the active cell, which runs as a job then'
    ),
    isVisible: () =>
      commands.isVisible(USE_AS_INPUT) && under().spec.includes(':'),
    isEnabled: () => commands.isEnabled(USE_AS_INPUT),
    execute: () => {
      const { spec, project } = under();
      return commands.execute(USE_AS_INPUT, { spec, project });
    }
  });
  contextMenu.addItem({
    command: SHOW_FILE_PROVENANCE,
    selector: '[data-acai-file]',
    rank: 0
  });
  for (const selector of ['[data-acai-file]', '[data-acai-thing*=":"]']) {
    const command = USE_THIS_AS_INPUT;
    contextMenu.addItem({ command, selector, rank: 1 });
  }
}

const SHOW_FILE_PROVENANCE = 'acai:show-file-provenance';
const USE_THIS_AS_INPUT = 'acai:use-this-as-input';

function addSet(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  loaded: Loaded,
  tabs: MainTabs
): void {
  const { commands } = app;
  commands.addCommand(OPEN_SET, {
    label: trans.__('Open File Set'),
    caption: trans.__('Show a file set and its versions in a tab'),
    isVisible: args => typeof args.name === 'string',
    execute: async ({ name, version, project: named }) => {
      if (typeof name !== 'string') {
        return;
      }
      const [{ SetTab }, services, project] = await Promise.all([
        import('./setTabs'),
        loaded.services(),
        projectMeant(connection, named)
      ]);
      const tab = await tabs.show(
        SetTab.idOf(name, project),
        { command: OPEN_SET, name, project },
        () => new SetTab(name, services.inProject(project))
      );
      if (typeof version === 'number' && tab instanceof SetTab) {
        tab.content.choose(version);
      }
    }
  });
  commands.addCommand(COMPARE_SETS, {
    label: trans.__('Compare File Sets'),
    caption: trans.__('Show in which files two file sets differ'),
    isVisible: args => typeof args.before === 'string',
    execute: async ({ before, after, project: named }) => {
      if (typeof before !== 'string' || typeof after !== 'string') {
        return;
      }
      const [{ SetDiffTab }, services, project] = await Promise.all([
        import('./setTabs'),
        loaded.services(),
        projectMeant(connection, named)
      ]);
      await connection.connect();
      await tabs.show(
        SetDiffTab.idOf(before, after, project),
        { command: COMPARE_SETS, before, after, project },
        () => new SetDiffTab(before, after, services.inProject(project))
      );
    }
  });
}
