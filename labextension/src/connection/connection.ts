import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { IEvent, IProject } from '../contract';
import type { AcaiClient } from '../core/client';
import {
  type ConnectionState,
  ConnectionStore,
  type IChoice
} from '../core/connectionStore';
import {
  EventStreams,
  type IEventListener,
  type IFollowing
} from '../core/eventStreams';
import type { IAcaiConnection, IProjectConnection } from '../tokens';
import { ProjectConnection } from './projectConnection';

/** The connection store with Lumino's signals on it. */
export class AcaiConnection implements IAcaiConnection, IDisposable {
  constructor(
    readonly client: AcaiClient,
    choice?: IChoice
  ) {
    this.streams = new EventStreams(
      (project, since) => client.openEvents(project, since),
      (project, since) => client.events(project, since)
    );
    this.store = new ConnectionStore(
      client,
      this.streams,
      {
        onState: state => {
          this._stateChanged.emit(state);
        },
        onEvent: event => {
          this._eventReceived.emit(event);
        },
        onReload: () => {
          this._reloadNeeded.emit();
        }
      },
      choice
    );
  }

  get state(): ConnectionState {
    return this.store.state;
  }

  get missing(): string {
    return this.store.missing;
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
    return this.store.connect();
  }

  projects(): Promise<IProject[]> {
    return this.client.projects();
  }

  choose(project: string): Promise<void> {
    return this.store.choose(project);
  }

  inProject(project: string): IProjectConnection & IDisposable {
    return new ProjectConnection(this, project);
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
