import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { AcaiClient } from '../core/client';
import type { IChoice } from '../core/connectionStore';
import { DOMAIN, translateBy } from '../core/translation';
import { IAcaiConnection } from '../tokens';
import { AcaiConnection } from './connection';
import { serverTransport } from './transport';

const KEY = 'acai-jupyter:project';

/** All other plugins stand on this one, so it is here that they get their language: before any of them says a word. */
export const connectionPlugin: JupyterFrontEndPlugin<IAcaiConnection> = {
  id: 'acai-jupyter:connection',
  description: 'Provides the connection to the ACAI server.',
  autoStart: true,
  optional: [IStateDB, ITranslator],
  provides: IAcaiConnection,
  activate: (
    app: JupyterFrontEnd,
    states: IStateDB | null,
    translator: ITranslator | null
  ): IAcaiConnection => {
    translateBy((translator ?? nullTranslator).load(DOMAIN));
    return new AcaiConnection(
      new AcaiClient(serverTransport(app.serviceManager.serverSettings)),
      states === null ? undefined : choiceIn(states)
    );
  }
};

/** Kept with the layout, whose tabs are of projects too. */
function choiceIn(states: IStateDB): IChoice {
  return {
    read: async () => {
      const kept = await states.fetch(KEY).catch(() => undefined);
      return typeof kept === 'string' ? kept : '';
    },
    keep: project => {
      void states.save(KEY, project);
    }
  };
}
