import { describe, expect, it } from 'vitest';

import type {
  INewFile,
  INewObject,
  ISentObject,
  IStageFiles
} from '../src/contract';
import { AcaiClient, type ITransport } from '../src/core/client';
import { ObjectClient } from '../src/core/objectClient';
import { Sha256, sha256Of } from '../src/core/sha256';
import type { IGivenFile, Upload } from '../src/core/upload';
import { type ILittleStorage, UploadList } from '../src/core/uploadList';
import { type ILockManager, UploadLocks } from '../src/core/uploadLocks';

/** A server that keeps upload sessions by the rules of the real one, as far as a page uses them. */
class SessionTransport implements ITransport {
  readonly objects = new Map<string, Uint8Array>();
  readonly contents = new Set<string>();
  readonly committed: INewFile[][] = [];
  /** Bytes of objects and parts that were sent. */
  sent = 0;
  /** After so many more of them nobody answers. */
  rest = Infinity;
  private staged = new Map<string, INewFile>();
  private state = '';
  private next = 1;
  private session = 0;

  openSocket(): WebSocket {
    throw new Error('Nobody listens.');
  }

  async fetch(path: string, init: RequestInit): Promise<Response> {
    if (path.startsWith('v1/objects/')) {
      return this.put(path, init.body as Blob);
    }
    const [, , , , id, verb] = path.split('/');
    const text = typeof init.body === 'string' ? init.body : '{}';
    const found = this.answer(
      `${init.method ?? ''} ${verb ?? ''}`,
      id,
      JSON.parse(text)
    );
    return Promise.resolve(
      found === null ? new Response('', { status: 404 }) : Response.json(found)
    );
  }

  private async put(path: string, body: Blob): Promise<Response> {
    if (this.rest === 0) {
      return new Response('{}', { status: 400 });
    }
    this.rest -= 1;
    this.sent += body.size;
    this.objects.set(path, new Uint8Array(await body.arrayBuffer()));
    return new Response('{}', { headers: { ETag: `"${path}"` } });
  }

  private answer(verb: string, id: string | undefined, body: unknown): unknown {
    switch (verb) {
      case 'POST ':
        this.session += 1;
        [this.state, this.next] = ['pending', 1];
        this.staged = new Map();
        return this.upload();
      case 'GET ':
        return id === `s${this.session}` ? this.upload() : null;
      case 'DELETE ':
        this.state = 'aborted';
        return {};
      case 'POST files':
        return this.stage(body as IStageFiles);
      case 'POST targets':
        return {
          targets: [this.target((body as { objects: [INewObject] }).objects[0])]
        };
      case 'POST objects':
        return this.add((body as { objects: [ISentObject] }).objects[0]);
      default:
        return this.commit();
    }
  }

  private upload(): unknown {
    const { session, state, next } = this;
    return { id: `s${session}`, state, next_object: next };
  }

  private stage({ files = [], anew }: IStageFiles): unknown {
    if (anew === true) {
      this.staged.clear();
    }
    files.forEach(one => this.staged.set(one.path, one));
    const missing = files.flatMap((one, at) =>
      this.contents.has(one.sha256) ? [] : [at]
    );
    return { missing };
  }

  private target({ number, size_bytes, part_bytes }: INewObject): unknown {
    this.next = Math.max(this.next, number + 1);
    const base = `http://a/acai/api/v1/objects/s${this.session}-${number}`;
    if (typeof part_bytes !== 'number') {
      return { number, key: 'k', url: `${base}?s=1` };
    }
    const count = Math.ceil(size_bytes / part_bytes);
    const parts = Array.from({ length: count }, (_, at) => {
      const url = `${base}?part=${at + 1}`;
      const path = url.slice('http://a/acai/api/'.length);
      const etag = this.objects.has(path) ? path : null;
      return {
        number: at + 1,
        offset: at * part_bytes,
        size_bytes: 0,
        url,
        etag
      };
    });
    return { number, key: 'k', parts };
  }

  private add(object: ISentObject): unknown {
    for (const blob of object.blobs) {
      this.contents.add(blob.sha256);
    }
    return { numbers: [object.number] };
  }

  private commit(): unknown {
    const files = [...this.staged.values()];
    if (files.some(one => !this.contents.has(one.sha256))) {
      return null;
    }
    this.committed.push(files);
    this.state = 'committed';
    return {
      id: 's',
      new_files: files.length,
      unchanged_files: 0,
      size_bytes: 0
    };
  }
}

function memory(): ILittleStorage {
  const kept = new Map<string, string>();
  return {
    getItem: key => kept.get(key) ?? null,
    setItem: (key, text) => void kept.set(key, text)
  };
}

/** A browser's locks, as far as pages of ours use them: who waits is let in when all who were before are gone. */
class BrowserLocks {
  readonly held = new Map<string, Promise<unknown>>();

  query(): Promise<LockManagerSnapshot> {
    const held = [...this.held.keys()].map(name => ({ name }));
    return Promise.resolve({ held, pending: [] });
  }

  async request(
    name: string,
    options: LockOptions,
    callback: (lock: Lock | null) => unknown
  ): Promise<unknown> {
    if (options.ifAvailable === true && this.held.has(name)) {
      return callback(null);
    }
    if (options.ifAvailable !== true) {
      await this.held.get(name);
    }
    const done = Promise.resolve(callback({ name, mode: 'exclusive' }));
    this.held.set(name, done);
    await done;
    this.held.delete(name);
    return done;
  }
}

function pageOf(
  server: SessionTransport,
  storage = memory(),
  locks?: BrowserLocks
): UploadList {
  const client = new AcaiClient(server);
  const objects = new ObjectClient(client);
  const owned = new UploadLocks(locks as ILockManager | undefined);
  return new UploadList(client, objects, storage, () => 'default', owned);
}

const LARGE = new Uint8Array(9 * 1024 ** 2).map((_, at) => at % 251);

function given(count: number, isLarge = false): IGivenFile[] {
  const small = Array.from({ length: count }, (_, at) => ({
    path: `many/${at}.txt`,
    file: new Blob([`file ${at}`])
  }));
  const large = { path: 'many/large.bin', file: new Blob([LARGE]) };
  return isLarge ? [...small, large] : small;
}

function ended(upload: Upload): Promise<void> {
  return new Promise(resolve => {
    const look = () => {
      if (upload.phase !== 'sending') {
        resolve();
      }
    };
    upload.subscribe(look);
    look();
  });
}

async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes);
  return [...new Uint8Array(digest)]
    .map(byte => byte.toString(16).padStart(2, '0'))
    .join('');
}

describe('an upload', () => {
  it('sends small files together, names each with its hash, and is committed at once', async () => {
    const server = new SessionTransport();
    const upload = pageOf(server).start(given(1_200), '/raw/');
    await ended(upload);
    expect(upload.error).toBeNull();
    expect(server.objects.size).toBe(3);
    const [files = []] = server.committed;
    expect(files).toHaveLength(1_200);
    expect(files.find(one => one.path.endsWith('/7.txt'))).toEqual({
      path: '/raw/many/7.txt',
      size_bytes: 6,
      sha256: await hashOf(new TextEncoder().encode('file 7'))
    });
    expect([upload.doneFiles, upload.result?.new_files]).toEqual([
      1_200, 1_200
    ]);
  });

  it('sends the same content once', async () => {
    const server = new SessionTransport();
    const file = new Blob(['the same']);
    const two = [
      { path: 'a', file },
      { path: 'b', file }
    ];
    await ended(pageOf(server).start(two, '/'));
    expect(server.sent).toBe(8);
    await ended(pageOf(server).start(two, '/other/'));
    expect(server.sent).toBe(8);
  });

  it(
    'goes on, when the page was loaded anew, with what did not arrive',
    { timeout: 60_000 },
    async () => {
      const server = new SessionTransport();
      const storage = memory();
      server.rest = 1;
      const first = pageOf(server, storage).start(given(600, true), '/');
      await ended(first);
      expect(first.phase).toBe('failed');
      const before = server.sent;
      server.rest = Infinity;
      const page = pageOf(server, storage);
      expect(page.brokenOff.map(one => one.label)).toEqual(['many to /']);
      const second = page.start(given(600, true), '/');
      expect(page.brokenOff).toEqual([]);
      await ended(second);
      expect(second.error).toBeNull();
      const small = given(600).reduce((sum, one) => sum + one.file.size, 0);
      expect(server.sent).toBe(small + LARGE.length);
      expect(before).toBeGreaterThan(0);
      expect(server.committed[0]).toHaveLength(601);
      const large = server.committed[0]?.find(one => one.path.endsWith('.bin'));
      expect(large?.sha256).toBe(await hashOf(LARGE));
      expect(pageOf(server, storage).brokenOff).toEqual([]);
    }
  );

  it('begins anew where the server gave up what was broken off', async () => {
    const server = new SessionTransport();
    const storage = memory();
    server.rest = 0;
    const page = pageOf(server, storage);
    await ended(page.start(given(3), '/'));
    const again = pageOf(server, storage);
    await Promise.all(again.brokenOff.map(one => again.giveUp(one)));
    expect(again.brokenOff).toEqual([]);
    server.rest = 9;
    const upload = again.start(given(3), '/');
    await ended(upload);
    expect(upload.phase).toBe('done');
  });

  it('is told from one that another page of the browser sends', async () => {
    const server = new SessionTransport();
    const [storage, locks] = [memory(), new BrowserLocks()];
    const first = pageOf(server, storage, locks);
    server.rest = 0;
    const upload = first.start(given(3), '/');
    await ended(upload);
    expect(upload.phase).toBe('failed');
    const second = pageOf(server, storage, locks);
    await second.look();
    expect(second.elsewhere.map(one => one.label)).toEqual(['many to /']);
    expect(second.brokenOff).toEqual([]);
    const told = new Promise<void>(tell => {
      second.subscribe(() => {
        if (second.brokenOff.length > 0) {
          tell();
        }
      });
    });
    first.dismiss(upload); // as when its page is closed
    await told;
    expect(second.elsewhere).toEqual([]);
    server.rest = 9;
    const again = second.start(given(3), '/');
    await ended(again);
    expect([again.phase, again.kept.id]).toEqual(['done', 's1']);
    await first.look();
    expect([first.elsewhere, first.brokenOff]).toEqual([[], []]);
  });

  it('is not gone on with by two pages at once', async () => {
    const server = new SessionTransport();
    const [storage, locks] = [memory(), new BrowserLocks()];
    server.rest = 0;
    const failed = pageOf(server, storage).start(given(3), '/');
    await ended(failed);
    const pages = [0, 1].map(() => pageOf(server, storage, locks));
    await Promise.all(pages.map(page => page.look()));
    const both = pages.map(page => page.start(given(3), '/'));
    await Promise.all(both.map(ended));
    expect(new Set(both.map(one => one.kept.id)).size).toBe(2);
  });

  it('is not given up by one page while another goes on with it', async () => {
    const server = new SessionTransport();
    const [storage, locks] = [memory(), new BrowserLocks()];
    server.rest = 0;
    await ended(pageOf(server, storage).start(given(3), '/'));
    const [first, second] = [0, 1].map(() => pageOf(server, storage, locks));
    await first?.look();
    await second?.look();
    const [broken] = first?.brokenOff ?? [];
    expect(broken?.id).toBe('s1');
    expect(await second?.take('s1')).toBe(true);
    if (broken !== undefined) {
      await first?.giveUp(broken);
    }
    expect(first?.elsewhere.map(one => one.id)).toEqual(['s1']);
  });

  it('is given up when somebody stops it', async () => {
    const server = new SessionTransport();
    const storage = memory();
    const page = pageOf(server, storage);
    const upload = page.start(given(2_000), '/');
    await upload.stop();
    expect(upload.phase).toBe('stopped');
    page.dismiss(upload);
    expect(page.uploads).toEqual([]);
    expect(server.committed).toEqual([]);
  });
});

describe('SHA-256', () => {
  it('is that of others, however the bytes come', async () => {
    for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 120, 1_000]) {
      const bytes = LARGE.slice(0, length);
      const hash = new Sha256();
      for (let at = 0; at < length; at += 37) {
        hash.update(bytes.subarray(at, at + 37));
      }
      expect(hash.hex()).toBe(await hashOf(bytes));
      expect(await sha256Of(bytes)).toBe(await hashOf(bytes));
    }
  });
});
