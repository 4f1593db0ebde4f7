import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { IProjectConnection } from '../tokens';
import { Fault } from '../views/fault';
import { wordsWhenAway, wordsWhenLate } from './stateLine';

/** Above what a tab shows: why nothing new comes from the server, and a way to try at once, or why it comes late. Hidden while all is well. */
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
    const { state } = this.connection;
    const late = wordsWhenLate(state);
    return late === '' ? (
      <Fault
        words={wordsWhenAway(state)}
        onAgain={() => void this.connection.connect()}
      />
    ) : (
      <p className="jp-AcaiView-note" role="status" title={late}>
        {late}
      </p>
    );
  }

  private readonly follow = (): void => {
    const { state } = this.connection;
    this.setHidden(wordsWhenAway(state) + wordsWhenLate(state) === '');
    this.update();
  };
}
