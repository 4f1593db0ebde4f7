import type { IDisposable } from '@lumino/disposable';

import { projectClient, projectOf } from '../connection/project';
import { hears } from '../core/connectionStore';
import { OverviewStore } from '../core/overviewStore';
import type { IAcaiConnection, IAcaiOverview } from '../tokens';

/** The overview of the connection's project, which hears its events and knows whether the page can be seen. */
export class FollowedOverview implements IAcaiOverview, IDisposable {
  constructor(private readonly connection: IAcaiConnection) {
    this.store = new OverviewStore(projectClient(connection));
    connection.eventReceived.connect(this.onEvent);
    connection.reloadNeeded.connect(this.onReload);
    connection.stateChanged.connect(this.onState);
    document.addEventListener('visibilitychange', this.onState);
    this.onState();
  }

  readonly store: OverviewStore;

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      const { connection } = this;
      connection.eventReceived.disconnect(this.onEvent);
      connection.reloadNeeded.disconnect(this.onReload);
      connection.stateChanged.disconnect(this.onState);
      document.removeEventListener('visibilitychange', this.onState);
      this.store.dispose();
    }
  }

  private readonly onEvent: Parameters<
    IAcaiConnection['eventReceived']['connect']
  >[0] = (_, event) => {
    this.store.hear(event);
  };

  private readonly onReload = (): void => {
    this.store.doubt();
  };

  private readonly onState = (): void => {
    const { state } = this.connection;
    const isLive = hears(state);
    const project = projectOf(this.connection);
    if (project !== '' && project !== this.project) {
      if (this.project !== '') {
        this.store.forget();
      }
      this.project = project;
    }
    if (isLive && !this.wasLive) {
      this.store.doubt();
    }
    this.wasLive = isLive;
    this.store.setSeen(isLive && !document.hidden);
  };

  private project = '';
  private wasLive = false;
  private _isDisposed = false;
}
