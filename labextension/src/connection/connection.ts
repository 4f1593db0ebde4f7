import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { IEvent } from '../contract';
import type { AcaiClient } from '../core/client';
import { type ConnectionState, ConnectionStore } from '../core/connectionStore';
import {
  EventStreams,
  type IEventListener,
  type IFollowing
} from '../core/eventStreams';
import type { IAcaiConnection } from '../tokens';

/** The connection store with Lumino's signals on it. */
export class AcaiConnection implements IAcaiConnection, IDisposable {
  constructor(readonly client: AcaiClient) {
    this.streams = new EventStreams(
      (project, since) => client.openEvents(project, since),
      (project, since) => client.events(project, since)
    );
    this.store = new ConnectionStore(client, this.streams, {
      onState: state => {
        this._stateChanged.emit(state);
      },
      onEvent: event => {
        this._eventReceived.emit(event);
      },
      onReload: () => {
        this._reloadNeeded.emit();
      }
    });
  }

  get state(): ConnectionState {
    return this.store.state;
  }

  get stateChanged(): ISignal<IAcaiConnection, ConnectionState> {
    return this._stateChanged;
  }

  get eventReceived(): ISignal<IAcaiConnection, IEvent> {
    return this._eventReceived;
  }

  get reloadNeeded(): ISignal<IAcaiConnection, void> {
    return this._reloadNeeded;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  connect(): Promise<void> {
    return this.store.connect();
  }

  follow(project: string, listener: IEventListener): IFollowing {
    return this.streams.follow(project, listener);
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this.store.dispose();
      Signal.clearData(this);
    }
  }

  private readonly streams: EventStreams;
  private readonly store: ConnectionStore;
  private readonly _stateChanged = new Signal<IAcaiConnection, ConnectionState>(
    this
  );
  private readonly _eventReceived = new Signal<IAcaiConnection, IEvent>(this);
  private readonly _reloadNeeded = new Signal<IAcaiConnection, void>(this);
  private _isDisposed = false;
}
