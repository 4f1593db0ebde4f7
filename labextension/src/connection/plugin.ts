import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';

import { AcaiClient } from '../core/client';
import { IAcaiConnection } from '../tokens';
import { AcaiConnection } from './connection';
import { serverTransport } from './transport';

export const connectionPlugin: JupyterFrontEndPlugin<IAcaiConnection> = {
  id: 'acai-jupyter:connection',
  description: 'Provides the connection to the ACAI server.',
  autoStart: true,
  provides: IAcaiConnection,
  activate: (app: JupyterFrontEnd): IAcaiConnection =>
    new AcaiConnection(
      new AcaiClient(serverTransport(app.serviceManager.serverSettings))
    )
};
