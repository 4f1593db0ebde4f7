import type { IEvent, IEventPage } from '../contract';
import { backoff } from './backoff';

export type StreamState =
  | 'connecting'
  | 'live'
  | 'reconnecting'
  /** No socket stays open, but the server answers: it is asked for what is new at each try of another socket. */
  | 'polling'
  | 'closed';

/** The part of a WebSocket that the stream needs. */
export interface IEventSocket {
  onopen: ((event: Event) => void) | null;
  onmessage: ((event: MessageEvent) => void) | null;
  onclose: ((event: CloseEvent) => void) | null;
  close(): void;
}

export interface IEventStreamOptions {
  open: (since: number | null) => IEventSocket;
  /** The events after a number in another way, for pages that no socket gets through to. */
  poll?: (since: number | null) => Promise<IEventPage>;
  onState: (state: StreamState) => void;
  /** Called once per event, in the order of their numbers. */
  onEvent: (event: IEvent) => void;
  /** Whatever was read before is to be read anew: the stream begins here, or events were missed for good. */
  onReload: () => void;
  /** Why the server was not heard in the other way either. */
  onRefused?: (error: unknown) => void;
  now?: () => number;
  random?: () => number;
}

/** A connection shorter than this was no success: waiting times go on growing. */
const STEADY_MS = 5_000;
/** The server says something every 20 s, so that this is longer than it takes to hear of it twice. */
const SILENCE_MS = 45_000;
/** After so many of these in a row it is tried whether the server answers in another way. */
const BLOCKED_FAILURES = 2;
/** So many events the server puts on a page: on one with fewer are the last. */
const PAGE_EVENTS = 500;

/** The events of a project, over as many sockets as it takes: none is lost, none comes twice. */
export class EventStream {
  constructor(private readonly options: IEventStreamOptions) {}

  get state(): StreamState {
    return this._state;
  }

  start(): void {
    if (this._state === 'closed' && !this.disposed) {
      this.setState('connecting');
      this.open();
    }
  }

  /** Ends the waiting for the next try, if it waits for one. */
  retry(): void {
    const isWaiting =
      this._state === 'reconnecting' || this._state === 'polling';
    if (isWaiting && this.socket === null) {
      clearTimeout(this.timer);
      this.open();
    }
  }

  /** Safe to call twice. */
  dispose(): void {
    if (this.disposed) {
      return;
    }
    this.disposed = true;
    clearTimeout(this.timer);
    this.dropSocket();
    this.setState('closed');
  }

  private open(): void {
    const socket = this.options.open(this.last);
    this.socket = socket;
    this.listen();
    socket.onopen = () => {
      this.openedAt = this.heardAt = this.now();
      this.listen();
      if (this._state !== 'polling') {
        this.setState('live');
      } else {
        // What is in the way may let it open and close it again: it has to show that it is good for something.
        this.steady = setTimeout(() => {
          this.setState('live');
        }, STEADY_MS);
      }
    };
    socket.onmessage = message => {
      this.heardAt = this.now();
      this.listen();
      this.setState('live');
      this.receive(message.data);
    };
    // A socket that failed to open closes too, so `onerror` would only tell the same.
    socket.onclose = () => {
      this.reopenLater();
    };
  }

  /** A server that hangs, or a link that is dead, closes nothing. */
  private listen(): void {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => {
      this.reopenLater(this.heardAt);
    }, SILENCE_MS);
  }

  /** `goodUntil`: when the socket was last good for something. */
  private reopenLater(goodUntil = this.now()): void {
    this.dropSocket();
    if (this.openedAt !== null && goodUntil - this.openedAt >= STEADY_MS) {
      this.failures = 0;
    }
    this.openedAt = null;
    const random = this.options.random ?? Math.random;
    const delay = backoff(this.failures, random);
    this.failures += 1;
    if (this._state !== 'polling') {
      this.setState('reconnecting');
    }
    if (this.failures >= BLOCKED_FAILURES) {
      void this.poll();
    }
    this.timer = setTimeout(() => {
      this.open();
    }, delay);
  }

  /** Ask for what is new until there is nothing more. */
  private async poll(): Promise<void> {
    const { poll } = this.options;
    if (poll === undefined || this.isAsking) {
      return;
    }
    this.isAsking = true;
    try {
      let page: IEventPage;
      do {
        page = await poll(this.last);
        if (this.disposed || this._state === 'live') {
          return;
        }
        this.setState('polling');
        this.take(page);
      } while (page.events.length >= PAGE_EVENTS);
    } catch (error) {
      if (this._state === 'polling') {
        this.setState('reconnecting');
      }
      if (!this.disposed) {
        this.options.onRefused?.(error);
      }
    } finally {
      this.isAsking = false;
    }
  }

  private receive(data: unknown): void {
    const page = parsePage(data);
    if (page === null) {
      // What came cannot be counted, so it is asked for again on a new socket.
      this.reopenLater();
      return;
    }
    this.take(page);
  }

  private take(page: Partial<IEventPage>): void {
    const begins = this.last === null;
    if (page.reload) {
      // A restored database counts from a lower number: `last` may go back, but only here.
      this.last = page.last ?? null;
    }
    if (page.reload || begins) {
      this.options.onReload();
    }
    for (const event of page.events ?? []) {
      this.deliver(event);
    }
    if (page.last !== undefined) {
      this.last = Math.max(this.last ?? 0, page.last);
    }
  }

  private deliver(event: IEvent): void {
    if (this.last !== null && event.number <= this.last) {
      return;
    }
    this.last = event.number;
    this.options.onEvent(event);
  }

  private dropSocket(): void {
    clearTimeout(this.steady);
    clearTimeout(this.silence);
    const socket = this.socket;
    this.socket = null;
    if (socket !== null) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
  }

  private setState(state: StreamState): void {
    if (state !== this._state) {
      this._state = state;
      this.options.onState(state);
    }
  }

  private now(): number {
    return (this.options.now ?? Date.now)();
  }

  private _state: StreamState = 'closed';
  private disposed = false;
  private socket: IEventSocket | null = null;
  private last: number | null = null;
  private openedAt: number | null = null;
  private heardAt = 0;
  private failures = 0;
  /** The server is being asked in the other way. */
  private isAsking = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private steady: ReturnType<typeof setTimeout> | undefined;
  private silence: ReturnType<typeof setTimeout> | undefined;
}

function parsePage(data: unknown): Partial<IEventPage> | null {
  try {
    const page: unknown = JSON.parse(String(data));
    return typeof page === 'object' ? page : null;
  } catch {
    return null;
  }
}
