import { MainAreaWidget } from '@jupyterlab/apputils';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { IDisposable } from '@lumino/disposable';
import * as React from 'react';

import { projectClient, projectOf } from '../connection/project';
import { placeTab } from '../connection/projectTab';
import { DataClient } from '../core/dataClient';
import { ObjectClient } from '../core/objectClient';
import { PreviewReader } from '../core/previews';
import { trans } from '../core/translation';
import { acaiIcon } from '../panel/icon';
import type { IProjectConnection } from '../tokens';
import { Compare } from './compareView';

/** Two jobs side by side in a tab of the main area. */
export class CompareTab extends MainAreaWidget {
  static idOf(before: number, after: number, project: string): string {
    return `acai-compare-${before}-${after}@${project}`;
  }

  constructor(
    before: number,
    after: number,
    connection: IProjectConnection & IDisposable
  ) {
    const client = projectClient(connection);
    const data = new DataClient(connection.client, () => projectOf(connection));
    const objects = new ObjectClient(connection.client);
    const reader = new PreviewReader(data, objects);
    const connect = () => connection.connect();
    const content = ReactWidget.create(
      <Compare
        before={before}
        after={after}
        client={client}
        data={data}
        reader={reader}
        connect={connect}
      />
    );
    content.addClass('jp-AcaiView');
    content.addClass('jp-AcaiJobTab');
    super({ content });
    this.title.icon = acaiIcon;
    this.title.closable = true;
    placeTab(this, connection, trans.__('jobs %1 and %2', before, after));
  }
}
