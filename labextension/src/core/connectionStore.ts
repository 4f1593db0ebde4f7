import type { IStatus } from '../contract';
import type { AcaiClient } from './client';
import { AcaiError } from './errors';
import type { StreamState } from './eventStream';
import type { EventStreams, IEventListener, IFollowing } from './eventStreams';

/** What the page knows of its server. */
export type ConnectionState =
  /** Nobody has asked yet. */
  | { kind: 'idle' }
  /** Asking; `error` is why the try before did not work. */
  | { kind: 'loading'; error: AcaiError | null }
  | { kind: 'unavailable'; error: AcaiError }
  | { kind: 'connected'; status: IStatus; stream: StreamState };

export interface IConnectionListener extends Omit<IEventListener, 'onState'> {
  onState(state: ConnectionState): void;
}

/** What a server that is restarted says, or who stands before it. */
const PASSING = ['server_unreachable', 'not_ready', 'unavailable'];
const STARTING_TRIES = 20;
const STARTING_PAUSE_MS = 500;

/** Reads the status when asked to, then keeps the event stream open. Asks nothing before `connect()`. */
export class ConnectionStore {
  constructor(
    private readonly client: AcaiClient,
    private readonly streams: EventStreams,
    private readonly listener: IConnectionListener
  ) {}

  get state(): ConnectionState {
    return this._state;
  }

  /**
   * Resolves when the state says how it went; never rejects. Asks once, however often it is called meanwhile.
   * When the connection was lost, it is looked for at once rather than after a pause.
   */
  connect(): Promise<void> {
    if (this.disposed || this._state.kind === 'connected') {
      this.stream?.retry();
      return Promise.resolve();
    }
    this.pending ??= this.load().finally(() => {
      this.pending = null;
    });
    return this.pending;
  }

  /** Safe to call twice. */
  dispose(): void {
    this.disposed = true;
    this.closeStream();
  }

  private async load(): Promise<void> {
    const before = this._state;
    this.setState({
      kind: 'loading',
      error: before.kind === 'unavailable' ? before.error : null
    });
    try {
      this.accept(await this.statusOnceStarted());
    } catch (error) {
      this.refuse(asAcaiError(error));
    }
  }

  /** Who answers after a pause may be another server, upgraded or set up anew. */
  private async refresh(): Promise<void> {
    try {
      this.accept(await this.statusOnceStarted());
    } catch (error) {
      const reason = asAcaiError(error);
      // Gone again, or about to go: the stream knows, and goes on trying.
      if (!PASSING.includes(reason.code)) {
        this.refuse(reason);
      }
    }
  }

  /** A server that is still opening its database says so; that is no failure to show. */
  private async statusOnceStarted(): Promise<IStatus> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.client.status();
      } catch (error) {
        if (!isStarting(error) || tries === STARTING_TRIES || this.disposed) {
          throw error;
        }
        await new Promise(resolve => setTimeout(resolve, STARTING_PAUSE_MS));
      }
    }
  }

  private accept(status: IStatus): void {
    if (this.disposed) {
      return;
    }
    if (this.project !== status.project) {
      this.closeStream();
    }
    this.project = status.project;
    this.stream ??= this.follow(status.project);
    this.setState({ kind: 'connected', status, stream: this.stream.state });
  }

  private refuse(error: AcaiError): void {
    this.closeStream();
    this.setState({ kind: 'unavailable', error });
  }

  private follow(project: string): IFollowing {
    return this.streams.follow(project, {
      onState: stream => {
        this.followStream(stream);
      },
      onEvent: event => {
        this.listener.onEvent(event);
      },
      onReload: () => {
        this.listener.onReload();
      }
    });
  }

  private followStream(stream: StreamState): void {
    const before = this._state;
    if (before.kind !== 'connected' || before.stream === stream) {
      return;
    }
    this.setState({ ...before, stream });
    if (before.stream === 'reconnecting' && hears(this._state)) {
      void this.refresh();
    }
  }

  private closeStream(): void {
    const stream = this.stream;
    this.stream = null;
    this.project = null;
    stream?.dispose();
  }

  private setState(state: ConnectionState): void {
    if (!this.disposed) {
      this._state = state;
      this.listener.onState(state);
    }
  }

  private _state: ConnectionState = { kind: 'idle' };
  private disposed = false;
  private pending: Promise<void> | null = null;
  private project: string | null = null;
  private stream: IFollowing | null = null;
}

/** Whether what happens on the server reaches the page, at once or late. */
export function hears(state: ConnectionState): boolean {
  return (
    state.kind === 'connected' &&
    (state.stream === 'live' || state.stream === 'polling')
  );
}

function isStarting(error: unknown): boolean {
  return error instanceof AcaiError && error.code === 'not_ready';
}

export function asAcaiError(error: unknown): AcaiError {
  return error instanceof AcaiError
    ? error
    : new AcaiError('page_fault', `This page failed: ${String(error)}`, 0);
}
