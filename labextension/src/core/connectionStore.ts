import type { IStatus } from '../contract';
import type { AcaiClient } from './client';
import { AcaiError } from './errors';
import type { StreamState } from './eventStream';
import type { EventStreams, IEventListener, IFollowing } from './eventStreams';
import { trans } from './translation';

/** What the page knows of its server. */
export type ConnectionState =
  /** Nobody has asked yet. */
  | { kind: 'idle' }
  /** Asking; `error` is why the try before did not work. */
  | { kind: 'loading'; error: AcaiError | null }
  | { kind: 'unavailable'; error: AcaiError }
  | IConnected;

export interface IConnected {
  kind: 'connected';
  /** As it is in the project that is shown. */
  status: IStatus;
  /** The project that lines mean which name none. */
  usual: string;
  stream: StreamState;
}

/** Which project was chosen last; empty where none was. */
export interface IChoice {
  read(): Promise<string>;
  keep(project: string): void;
}

export interface IConnectionListener extends Omit<
  IEventListener,
  'onState' | 'onRefused'
> {
  onState(state: ConnectionState): void;
}

/** What a server that is restarted says, or who stands before it. */
const PASSING = ['server_unreachable', 'not_ready', 'unavailable'];
const SIGNED_OUT = [401, 403];
/** What a server says of itself until a person has put it right. */
const MISCONFIGURED = [
  'store_mismatch',
  'store_unclaimed',
  'database_newer',
  'database_broken'
];
const STARTING_TRIES = 20;
const STARTING_PAUSE_MS = 500;

/** Said of a project that is not there, and of one that one is not in, or not any more. */
const NOT_THERE = 'project_not_found';

/** What a server said of itself. */
interface IAnswer {
  status: IStatus;
  usual: string;
}

/** Reads the status when asked to, then keeps the event stream open. Asks nothing before `connect()`. */
export class ConnectionStore {
  constructor(
    private readonly client: AcaiClient,
    private readonly streams: EventStreams,
    private readonly listener: IConnectionListener,
    private readonly choice: IChoice = FORGETFUL
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

  /** The project that was chosen last and is not there any more; the usual one is shown in its place. */
  get missing(): string {
    return this._missing;
  }

  /** Show another project from now on. Rejects when one is not in it, and then shows the same as before. */
  async choose(project: string): Promise<void> {
    const turn = (this.turn += 1);
    const usual = (await this.client.status()).project;
    const status = await this.statusOf(project, usual);
    if (turn !== this.turn) {
      return; // another one was chosen meanwhile
    }
    this.wanted = project === usual ? '' : project;
    this.choice.keep(this.wanted);
    this._missing = '';
    this.accept({ status, usual });
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
    const { turn } = this;
    try {
      const answer = await this.answerOnceStarted();
      if (turn === this.turn) {
        this.accept(answer);
      }
    } catch (error) {
      if (turn === this.turn) {
        this.refuse(asAcaiError(error));
      }
    }
  }

  /** Who answers after a pause may be another server, upgraded or set up anew. */
  private async refresh(): Promise<void> {
    const { turn } = this;
    try {
      const answer = await this.answerOnceStarted();
      if (turn === this.turn) {
        this.accept(answer);
      }
    } catch (error) {
      const reason = asAcaiError(error);
      // Gone again, or about to go: the stream knows, and goes on trying.
      if (turn === this.turn && !PASSING.includes(reason.code)) {
        this.refuse(reason);
      }
    }
  }

  /** A server that is still opening its database says so; that is no failure to show. */
  private async answerOnceStarted(): Promise<IAnswer> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.ask();
      } catch (error) {
        if (!isStarting(error) || tries === STARTING_TRIES || this.disposed) {
          throw error;
        }
        await new Promise(resolve => setTimeout(resolve, STARTING_PAUSE_MS));
      }
    }
  }

  private async ask(): Promise<IAnswer> {
    this.wanted ??= await this.choice.read();
    const { wanted } = this;
    const own = await this.client.status();
    const usual = own.project;
    try {
      const status = wanted === '' ? own : await this.statusOf(wanted, usual);
      return { status, usual };
    } catch (error) {
      if (asAcaiError(error).code !== NOT_THERE) {
        throw error;
      }
      this.wanted = '';
      this._missing = wanted;
      return { status: own, usual };
    }
  }

  private statusOf(project: string, usual: string): Promise<IStatus> {
    return this.client.status(project === usual ? '' : project);
  }

  private accept({ status, usual }: IAnswer): void {
    if (this.disposed) {
      return;
    }
    const { project } = status;
    const isOther = this.project !== null && this.project !== project;
    if (this.project !== project) {
      this.closeStream();
    }
    this.project = project;
    this.stream ??= this.follow(project);
    const { state } = this.stream;
    this.setState({ kind: 'connected', status, usual, stream: state });
    if (isOther) {
      this.listener.onReload();
    }
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
      },
      onRefused: error => {
        // No socket opens until a person has acted, so the panel shows why.
        const reason = asAcaiError(error);
        if (
          SIGNED_OUT.includes(reason.status) ||
          MISCONFIGURED.includes(reason.code)
        ) {
          this.refuse(reason);
        }
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
  /** The chosen project; null before anybody has looked which one it was, empty for the usual one. */
  private wanted: string | null = null;
  private _missing = '';
  /** Raised by each choice: what was asked before one is about another project. */
  private turn = 0;
  private stream: IFollowing | null = null;
}

/** Remembers no choice. */
const FORGETFUL: IChoice = {
  read: () => Promise.resolve(''),
  keep: () => undefined
};

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
    : new AcaiError(
        'page_fault',
        trans.__('This page failed: %1', String(error)),
        0
      );
}
