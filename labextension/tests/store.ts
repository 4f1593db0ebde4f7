import type { IDamageReport, IFetchPage, IReportedFile } from '../src/contract';
import type { ITransport } from '../src/core/client';
import { sha256Of } from '../src/core/sha256';

/** A server with one file, of which it sends the ranges that it is asked for. */
export class StoreTransport implements ITransport {
  /** How many bytes were sent. */
  sent = 0;
  /** Specs of what is not there. */
  readonly lacks: string[] = [];

  /** The files that were reported as damaged, report by report. */
  readonly reports: (readonly IReportedFile[])[] = [];
  /** What the server finds damaged when a file is reported. */
  damaged: string[] = [];
  /** What the store holds now; null when it has lost the object. */
  stored: Uint8Array<ArrayBuffer> | null;

  constructor(private readonly bytes: Uint8Array<ArrayBuffer>) {
    this.stored = bytes;
  }

  async fetch(path: string, init: RequestInit): Promise<Response> {
    if (path.endsWith('/files/damage')) {
      const { files } = JSON.parse(init.body as string) as IDamageReport;
      this.reports.push(files);
      return Response.json({ damaged: this.damaged });
    }
    if (path.endsWith('/files/fetch')) {
      const { spec } = JSON.parse(init.body as string) as { spec: string };
      if (this.lacks.includes(spec)) {
        const error = { code: 'file_not_found', message: '', details: {} };
        return Response.json({ error }, { status: 404 });
      }
      const page: IFetchPage = {
        root: '/',
        is_file: true,
        files: [
          ['/file', 3, this.bytes.length, await sha256Of(this.bytes), 0, OFFSET]
        ],
        objects: [
          'http://elsewhere:8888/acai/api/v1/objects/packs/a?signature=s'
        ]
      };
      return Response.json(page);
    }
    if (this.stored === null) {
      const error = { code: 'object_not_found', message: '', details: {} };
      return Response.json({ error }, { status: 404 });
    }
    const range = new Headers(init.headers).get('Range') ?? '';
    const found = /^bytes=(\d+)-(\d+)$/.exec(range);
    if (!path.startsWith('v1/objects/') || found === null) {
      return new Response('', { status: 400 });
    }
    const [first, last] = [
      Number(found[1]) - OFFSET,
      Number(found[2]) - OFFSET
    ];
    if (first < 0 || last >= this.bytes.length) {
      return new Response('', { status: 400 });
    }
    const piece = this.stored.slice(first, last + 1);
    this.sent += piece.length;
    return new Response(piece, { status: 206 });
  }

  openSocket(): WebSocket {
    throw new Error('Nobody listens.');
  }
}

/** The file begins in the middle of a pack. */
const OFFSET = 1_000;
