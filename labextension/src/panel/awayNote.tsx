import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { IProjectConnection } from '../tokens';
import { Fault } from '../views/fault';
import { wordsWhenAway } from './stateLine';

/** Above what a tab shows: why nothing new comes from the server, and a way to try at once. Hidden while all is well. */
export class AwayNote extends ReactWidget {
  constructor(private readonly connection: IProjectConnection) {
    super();
    this.addClass('jp-AcaiView');
    this.addClass('jp-AcaiAway');
    connection.stateChanged.connect(this.follow);
    this.follow();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.connection.stateChanged.disconnect(this.follow);
      super.dispose();
    }
  }

  protected override render(): React.ReactElement {
    return (
      <Fault
        words={wordsWhenAway(this.connection.state)}
        onAgain={() => void this.connection.connect()}
      />
    );
  }

  private readonly follow = (): void => {
    this.setHidden(wordsWhenAway(this.connection.state) === '');
    this.update();
  };
}
