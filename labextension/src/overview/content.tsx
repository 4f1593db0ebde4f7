import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import * as React from 'react';

import { OPEN_JOB, OPEN_JOBS } from '../commandIds';
import type { OverviewStore } from '../core/overviewStore';
import { Ticker } from '../core/ticker';
import type { IAcaiConnection } from '../tokens';
import { useSeconds } from '../views/job/hooks';
import { OverviewView } from './view';

/** The jobs of the project in the panel, following the overview. Loaded when the panel is first shown. */
export class OverviewContent extends ReactWidget {
  constructor(
    private readonly connection: IAcaiConnection,
    private readonly store: OverviewStore,
    private readonly commands: CommandRegistry
  ) {
    super();
    this.addClass('jp-AcaiPanel-content');
    this.addClass('jp-AcaiOverview');
  }

  protected override render(): React.ReactElement {
    return (
      <UseSignal signal={this.connection.stateChanged}>
        {() => (
          <Followed
            store={this.store}
            ticker={this.ticker}
            isConnected={this.connection.state.kind === 'connected'}
            onOpen={this.opener(OPEN_JOB)}
            onOpenAll={this.opener(OPEN_JOBS)}
          />
        )}
      </UseSignal>
    );
  }

  /** Null where the plugin with that command is not there. */
  private opener(command: string): ((job?: number) => void) | null {
    return this.commands.hasCommand(command)
      ? job => void this.commands.execute(command, { job })
      : null;
  }

  private readonly ticker = new Ticker();
}

function Followed(props: {
  store: OverviewStore;
  ticker: Ticker;
  isConnected: boolean;
  onOpen: ((job: number) => void) | null;
  onOpenAll: (() => void) | null;
}): React.ReactElement {
  const { store, ticker, isConnected, onOpen, onOpenAll } = props;
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => store.subscribe(again), [store]);
  const isLive = (store.overview?.running.length ?? 0) > 0;
  const now = useSeconds(ticker, isLive);
  return (
    <OverviewView
      overview={store.overview}
      costToday={store.costToday(now)}
      error={store.error}
      isConnected={isConnected}
      now={now}
      onOpen={onOpen}
      onOpenAll={onOpenAll}
    />
  );
}
