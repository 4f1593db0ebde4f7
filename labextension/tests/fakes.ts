import type { IStatus } from '../src/contract';
import type { ITransport } from '../src/core/client';
import type { IEventSocket } from '../src/core/eventStream';

/** A socket whose other end is the test. */
export class FakeSocket implements IEventSocket {
  onopen: IEventSocket['onopen'] = null;
  onmessage: IEventSocket['onmessage'] = null;
  onclose: IEventSocket['onclose'] = null;
  closed = false;

  constructor(readonly address: string) {}

  close(): void {
    this.closed = true;
  }

  accept(): void {
    this.onopen?.(new Event('open'));
  }

  send(message: unknown): void {
    this.sendText(JSON.stringify(message));
  }

  sendText(data: string): void {
    this.onmessage?.(new MessageEvent('message', { data }));
  }

  drop(): void {
    this.onclose?.(new Event('close') as CloseEvent);
  }
}

/** Answers what the test puts into `answers`, in order, the last one for good. */
export class FakeTransport implements ITransport {
  readonly paths: string[] = [];
  readonly sockets: FakeSocket[] = [];

  constructor(public answers: (() => Response)[]) {}

  fetch(path: string): Promise<Response> {
    this.paths.push(path);
    const answer = this.answers.length > 1 ? this.answers.shift() : undefined;
    return Promise.resolve().then(answer ?? this.answers[0]);
  }

  openSocket(path: string): WebSocket {
    const socket = new FakeSocket(path);
    this.sockets.push(socket);
    return socket as unknown as WebSocket;
  }

  get socket(): FakeSocket {
    const last = this.sockets.at(-1);
    if (last === undefined) {
      throw new Error('No socket was opened.');
    }
    return last;
  }
}

export function answer(body: unknown, status = 200): () => Response {
  return () => Response.json(body, { status });
}

export function refusal(
  code: string,
  message: string,
  status: number
): () => Response {
  return answer({ error: { code, message, details: {} } }, status);
}

export function nobody(): Response {
  throw new TypeError('Failed to fetch');
}

export function makeStatus(changes: Partial<IStatus> = {}): IStatus {
  return {
    version: '0.1.0',
    mode: 'serving',
    project: 'default',
    user: { name: 'you', role: 'admin' },
    data_folder: '/data/acai',
    backends: {
      database: 'sqlite',
      object_store: 'filesystem',
      runner: 'process',
      event_bus: 'memory'
    },
    machine: { cpus: 2, memory_bytes: 24 * 1024 ** 3 },
    store: { kind: 'filesystem', proof_file: null, part_bytes: null },
    started_at: '2026-11-18T12:00:00Z',
    ...changes
  };
}
