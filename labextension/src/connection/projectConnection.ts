import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { IEvent } from '../contract';
import type { AcaiClient } from '../core/client';
import type { ConnectionState } from '../core/connectionStore';
import type { IEventListener, IFollowing } from '../core/eventStreams';
import type { IAcaiConnection, IProjectConnection } from '../tokens';

/**
 * What a tab stands on: it shows the project that it was opened in, whichever the panels have come to show. Opened before
 * anybody knows which one is shown, it takes that one at its first answer.
 */
export class ProjectConnection implements IProjectConnection, IDisposable {
  constructor(
    private readonly page: IAcaiConnection,
    private project: string
  ) {
    page.stateChanged.connect(this.onState);
    this.onState();
  }

  get client(): AcaiClient {
    return this.page.client;
  }

  get state(): ConnectionState {
    const { state } = this.page;
    const { following, project } = this;
    if (state.kind !== 'connected' || following === null) {
      return state;
    }
    const status = { ...state.status, project };
    return { ...state, status, stream: following.state };
  }

  get stateChanged(): ISignal<IProjectConnection, ConnectionState> {
    return this._stateChanged;
  }

  get eventReceived(): ISignal<IProjectConnection, IEvent> {
    return this._eventReceived;
  }

  get reloadNeeded(): ISignal<IProjectConnection, void> {
    return this._reloadNeeded;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  connect(): Promise<void> {
    return this.page.connect();
  }

  follow(project: string, listener: IEventListener): IFollowing {
    return this.page.follow(project, listener);
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this.page.stateChanged.disconnect(this.onState);
      this.following?.dispose();
      this.following = null;
      Signal.clearData(this);
    }
  }

  private readonly onState = (): void => {
    const { state } = this.page;
    if (state.kind === 'connected') {
      this.project ||= state.status.project;
      this.following ??= this.page.follow(this.project, {
        onState: () => {
          this._stateChanged.emit(this.state);
        },
        onEvent: event => {
          this._eventReceived.emit(event);
        },
        onReload: () => {
          this._reloadNeeded.emit();
        }
      });
    } else if (state.kind === 'unavailable') {
      this.following?.dispose();
      this.following = null;
    }
    this._stateChanged.emit(this.state);
  };

  private following: IFollowing | null = null;
  private readonly _stateChanged = new Signal<
    IProjectConnection,
    ConnectionState
  >(this);
  private readonly _eventReceived = new Signal<IProjectConnection, IEvent>(
    this
  );
  private readonly _reloadNeeded = new Signal<IProjectConnection, void>(this);
  private _isDisposed = false;
}
