import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';

import { KINDS, mimeTypeOf, ViewRenderer } from './renderer';
import { IViewServices } from './services';

/** Before widgets (0) and HTML (50): a view that needs no kernel is the one that stays. */
const RANK = -10;

export const viewsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'acai-jupyter:views',
  description: 'Renders jobs in notebooks, live and without a kernel.',
  autoStart: true,
  requires: [IViewServices, IRenderMimeRegistry],
  activate: activateViews
};

function activateViews(
  _: JupyterFrontEnd,
  services: IViewServices,
  registry: IRenderMimeRegistry
): void {
  for (const kind of KINDS) {
    registry.addFactory(
      {
        safe: true,
        mimeTypes: [mimeTypeOf(kind)],
        createRenderer: () => new ViewRenderer(kind, services)
      },
      RANK
    );
  }
}
