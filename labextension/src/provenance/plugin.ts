import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, WidgetTracker } from '@jupyterlab/apputils';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';

import { OPEN_PROVENANCE, SHOW_PROVENANCE } from '../commandIds';
import { projectAround, projectMeant } from '../connection/project';
import { keptVisits, visitsFrom } from '../core/graphPlaces';
import { trans } from '../core/translation';
import { addTab, showTab } from '../panel/places';
import { IAcaiConnection } from '../tokens';
import type { ProvenancePanel } from './panel';
import { GraphRenderer, MIME_TYPE, type IPlace } from './renderer';

/** Before widgets (-10): those can be shown only while their kernel lives, which this finds out. */
const RANK = -20;

export const provenancePlugin: JupyterFrontEndPlugin<void> = {
  id: 'acai-jupyter:provenance',
  description:
    'Shows provenance graphs in notebooks, with and without a kernel.',
  autoStart: true,
  requires: [IRenderMimeRegistry, IAcaiConnection],
  optional: [ICommandPalette, ILayoutRestorer],
  activate: activateProvenance
};

function activateProvenance(
  app: JupyterFrontEnd,
  registry: IRenderMimeRegistry,
  connection: IAcaiConnection,
  palette: ICommandPalette | null,
  restorer: ILayoutRestorer | null
): void {
  addGraph(app, connection, restorer);
  addContextMenu(app);
  palette?.addItem({ command: OPEN_PROVENANCE, category: trans.__('ACAI') });
  const placeOf = (node: Node): IPlace | null => {
    for (const widget of app.shell.widgets('main')) {
      if (widget.node.contains(node)) {
        return widget as unknown as IPlace;
      }
    }
    return null;
  };
  registry.addFactory(
    {
      // It is SVG that was written elsewhere: in a notebook that is not trusted, HTML is shown, which is cleaned.
      safe: false,
      mimeTypes: [MIME_TYPE],
      createRenderer: ({ sanitizer }) => new GraphRenderer(placeOf, sanitizer)
    },
    RANK
  );
}

/** One tab for all that is asked for; the last thing asked for is in the middle. */
function addGraph(
  app: JupyterFrontEnd,
  connection: IAcaiConnection,
  restorer: ILayoutRestorer | null
): void {
  const { commands, shell } = app;
  const tracker = new WidgetTracker<ProvenancePanel>({
    namespace: 'acai-provenance'
  });
  commands.addCommand(OPEN_PROVENANCE, {
    label: args =>
      args.isMenu === true
        ? trans.__('ACAI Provenance')
        : trans.__('ACAI: Open Provenance'),
    caption: trans.__(
      'Draw what file sets and jobs came from, and what came of them'
    ),
    execute: async ({ spec, project: named, visits: kept }) => {
      const [{ ProvenancePanel }, project] = await Promise.all([
        import('./panel'),
        projectMeant(connection, named)
      ]);
      const visits = visitsFrom(kept);
      const thing = typeof spec === 'string' ? spec : '';
      const known = tracker.currentWidget;
      const panel =
        known ??
        new ProvenancePanel({
          connection,
          commands,
          onMove: () => void tracker.save(panel)
        });
      const isBack = visits.length > 0;
      if (isBack) {
        // Not waited for, as the layout of the page waits for this command.
        void panel.content.restore(visits);
      }
      if (known === null) {
        const isAside = typeof spec === 'string';
        addTab(shell, panel, isAside ? { mode: 'split-bottom' } : {});
        await tracker.add(panel);
      }
      showTab(shell, panel);
      if (!isBack) {
        await panel.content.showAround(thing, project);
      }
    }
  });
  void restorer?.restore(tracker, {
    command: OPEN_PROVENANCE,
    args: ({ content }) => ({
      project: content.visits.at(-1)?.place.project ?? '',
      visits: keptVisits(content.visits)
    }),
    name: () => 'provenance'
  });
}

/** On anything of ours that says which thing it is, wherever it stands on the page. */
function addContextMenu(app: JupyterFrontEnd): void {
  const { commands, contextMenu } = app;
  commands.addCommand(SHOW_PROVENANCE, {
    label: trans.__('Show Provenance'),
    caption: trans.__('Draw what this came from, and what came of it'),
    execute: () => {
      const found = app.contextMenuHitTest(isThing);
      return found === undefined
        ? undefined
        : commands.execute(OPEN_PROVENANCE, {
            spec: found.dataset.acaiThing ?? '',
            project: projectAround(found)
          });
    }
  });
  contextMenu.addItem({
    command: SHOW_PROVENANCE,
    selector: '[data-acai-thing]',
    rank: 0
  });
}

function isThing(node: HTMLElement): boolean {
  return node.dataset.acaiThing !== undefined;
}
