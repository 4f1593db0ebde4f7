import type { IEvent, IEventPage } from '../contract';
import {
  EventStream,
  type IEventSocket,
  type StreamState
} from './eventStream';

/** What somebody does with what happens in a project. */
export interface IEventListener {
  /** Called once per event, in the order of their numbers. */
  onEvent(event: IEvent): void;
  /** Whatever was read before is to be read anew: the stream begins here, or events were missed for good. */
  onReload(): void;
  onState?(state: StreamState): void;
  /** No socket stays open, and the server does not answer either. */
  onRefused?(error: unknown): void;
}

/** Somebody's part in a stream. */
export interface IFollowing {
  readonly state: StreamState;
  /** Ends the waiting for the next try, if the stream waits for one. */
  retry(): void;
  /** Hear no more. Safe to call twice. */
  dispose(): void;
}

/** The streams of a page: one for each project that somebody follows, however many do, and none for the others. */
export class EventStreams {
  constructor(
    private readonly open: (
      project: string,
      since: number | null
    ) => IEventSocket,
    private readonly poll?: (
      project: string,
      since: number | null
    ) => Promise<IEventPage>
  ) {}

  /** Who follows a stream that is live already is told of what comes next: ask for the rest after this. */
  follow(project: string, listener: IEventListener): IFollowing {
    const shared = this.shared.get(project) ?? this.share(project);
    shared.listeners.add(listener);
    shared.stream.start();
    return {
      get state() {
        return shared.stream.state;
      },
      retry: () => {
        shared.stream.retry();
      },
      dispose: () => {
        this.leave(project, shared, listener);
      }
    };
  }

  private share(project: string): IShared {
    const { poll } = this;
    const listeners = new Set<IEventListener>();
    const stream = new EventStream({
      open: since => this.open(project, since),
      ...(poll === undefined
        ? {}
        : { poll: (since: number | null) => poll(project, since) }),
      onState: state => {
        tell(listeners, one => one.onState?.(state));
      },
      onEvent: event => {
        tell(listeners, one => {
          one.onEvent(event);
        });
      },
      onReload: () => {
        tell(listeners, one => {
          one.onReload();
        });
      },
      onRefused: error => {
        tell(listeners, one => one.onRefused?.(error));
      }
    });
    const shared = { stream, listeners };
    this.shared.set(project, shared);
    return shared;
  }

  private leave(
    project: string,
    shared: IShared,
    listener: IEventListener
  ): void {
    shared.listeners.delete(listener);
    if (shared.listeners.size === 0) {
      shared.stream.dispose();
      if (this.shared.get(project) === shared) {
        this.shared.delete(project);
      }
    }
  }

  private readonly shared = new Map<string, IShared>();
}

/** Follows while that is wanted. */
export class Follower {
  constructor(private readonly begin: () => IFollowing) {}

  want(isWanted: boolean): void {
    if (isWanted) {
      this.following ??= this.begin();
    } else {
      this.following?.dispose();
      this.following = null;
    }
  }

  private following: IFollowing | null = null;
}

interface IShared {
  stream: EventStream;
  listeners: Set<IEventListener>;
}

function tell(
  listeners: ReadonlySet<IEventListener>,
  what: (listener: IEventListener) => void
): void {
  for (const one of [...listeners]) {
    what(one);
  }
}
