import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { IAcaiConnection } from '../tokens';
import { PAGE_VERSION } from '../version';
import { PanelView } from './panelView';
import { useNow } from './useNow';

/** What the panel shows, following the connection. Loaded when the panel is first shown. */
export class PanelContent extends ReactWidget {
  constructor(private readonly connection: IAcaiConnection) {
    super();
    this.addClass('jp-AcaiPanel-content');
  }

  protected override render(): React.ReactElement {
    return (
      <UseSignal signal={this.connection.stateChanged}>
        {() => <Followed connection={this.connection} />}
      </UseSignal>
    );
  }
}

function Followed(props: { connection: IAcaiConnection }): React.ReactElement {
  const { connection } = props;
  return (
    <PanelView
      state={connection.state}
      pageVersion={PAGE_VERSION}
      now={useNow()}
      onRetry={() => void connection.connect()}
    />
  );
}
