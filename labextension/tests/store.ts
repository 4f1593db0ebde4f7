import type { IFetchPage } from '../src/contract';
import type { ITransport } from '../src/core/client';

/** A server with one file, of which it sends the ranges that it is asked for. */
export class StoreTransport implements ITransport {
  /** How many bytes were sent. */
  sent = 0;
  /** Specs of what is not there. */
  readonly lacks: string[] = [];

  constructor(private readonly bytes: Uint8Array) {}

  fetch(path: string, init: RequestInit): Promise<Response> {
    if (path.endsWith('/files/fetch')) {
      const { spec } = JSON.parse(init.body as string) as { spec: string };
      if (this.lacks.includes(spec)) {
        const error = { code: 'file_not_found', message: '', details: {} };
        return Promise.resolve(Response.json({ error }, { status: 404 }));
      }
      const page: IFetchPage = {
        root: '/',
        is_file: true,
        files: [['/file', 3, this.bytes.length, 'aa', 0, OFFSET]],
        objects: [
          'http://elsewhere:8888/acai/api/v1/objects/packs/a?signature=s'
        ]
      };
      return Promise.resolve(Response.json(page));
    }
    const range = new Headers(init.headers).get('Range') ?? '';
    const found = /^bytes=(\d+)-(\d+)$/.exec(range);
    if (!path.startsWith('v1/objects/') || found === null) {
      return Promise.resolve(new Response('', { status: 400 }));
    }
    const [first, last] = [
      Number(found[1]) - OFFSET,
      Number(found[2]) - OFFSET
    ];
    if (first < 0 || last >= this.bytes.length) {
      return Promise.resolve(new Response('', { status: 400 }));
    }
    const piece = this.bytes.slice(first, last + 1);
    this.sent += piece.length;
    return Promise.resolve(new Response(piece, { status: 206 }));
  }

  openSocket(): WebSocket {
    throw new Error('Nobody listens.');
  }
}

/** The file begins in the middle of a pack. */
const OFFSET = 1_000;
