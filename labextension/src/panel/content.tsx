import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { IAcaiConnection } from '../tokens';
import { PAGE_VERSION } from '../version';
import { AboutView } from './aboutView';
import { PanelView } from './panelView';
import { useNow } from './useNow';

/** What the panel says first, following the connection. Loaded when the panel is first shown. */
export class PanelContent extends ReactWidget {
  constructor(
    private readonly connection: IAcaiConnection,
    private readonly onProjects: (below: HTMLElement) => void
  ) {
    super();
    this.addClass('jp-AcaiPanel-content');
  }

  protected override render(): React.ReactElement {
    const { connection } = this;
    return (
      <UseSignal signal={connection.stateChanged}>
        {() => (
          <PanelView
            state={connection.state}
            missing={connection.missing}
            pageVersion={PAGE_VERSION}
            onProjects={this.onProjects}
            onRetry={() => void connection.connect()}
          />
        )}
      </UseSignal>
    );
  }
}

/** What the page is connected to. */
export class AboutContent extends ReactWidget {
  constructor(private readonly connection: IAcaiConnection) {
    super();
    this.addClass('jp-AcaiPanel-content');
  }

  protected override render(): React.ReactElement {
    return (
      <UseSignal signal={this.connection.stateChanged}>
        {() => <About connection={this.connection} />}
      </UseSignal>
    );
  }
}

function About(props: { connection: IAcaiConnection }): React.ReactElement {
  return (
    <AboutView
      state={props.connection.state}
      pageVersion={PAGE_VERSION}
      now={useNow()}
    />
  );
}
