import { describe, expect, it } from 'vitest';

import type { IPlace, IReportedFile } from '../src/contract';
import { AcaiClient } from '../src/core/client';
import { explained, type IDamageSource } from '../src/core/damage';
import { DataClient } from '../src/core/dataClient';
import { AcaiError } from '../src/core/errors';
import { FetchedFiles } from '../src/core/fetched';
import { ObjectClient } from '../src/core/objectClient';
import { PreviewReader } from '../src/core/previews';
import { StoreTransport } from './store';

const TEXT = new TextEncoder().encode('one\ntwo\nthree\n');
const PLACE = { project: 'default', path: '/file', version: 3, part: 1 };
const FILE: IReportedFile = { path: '/file', version: 3 };
const DAMAGED =
  "The stored bytes of '/file:3' are damaged. Put a good copy of the file to heal it; acai-server repair looks for other copies.";
const UNREADABLE =
  "The stored bytes of '/file:3' are missing or wrong. Try again; acai doctor names the files that are known to be damaged.";
const IN_BUCKET: IPlace = ['/file', 3, TEXT.length, 'aa', 0, 0];
const BUCKET_PAGE = {
  root: '/',
  is_file: true,
  files: [IN_BUCKET],
  objects: ['https://bucket.example/packs/a?signature=s']
};

function open(outside?: typeof fetch): {
  store: StoreTransport;
  data: DataClient;
  objects: ObjectClient;
  reader: PreviewReader;
} {
  const store = new StoreTransport(TEXT);
  const client = new AcaiClient(store);
  const data = new DataClient(client, () => 'default');
  const objects = new ObjectClient(client, outside);
  return { store, data, objects, reader: new PreviewReader(data, objects) };
}

/** Reads the file whole, as a download does. */
async function download(data: DataClient, objects: ObjectClient) {
  const page = await data.fetch('/file:3');
  const fetched = new FetchedFiles(page, { objects, damage: data });
  for (const file of page.files) {
    for await (const piece of fetched.read(file)) {
      expect(piece.length).toBeGreaterThan(0);
    }
  }
}

const changed = TEXT.slice();
changed[0] = 0;

describe.each([
  { what: 'missing', stored: null },
  { what: 'too few', stored: TEXT.slice(0, 5) },
  { what: 'not those that were put', stored: changed }
])('a file whose stored bytes are $what', ({ stored }) => {
  it.each(['whole', 'part', 'download'])(
    'is reported and named when read as: %s',
    async how => {
      const { store, data, objects, reader } = open();
      store.stored = stored;
      store.damaged = ['/file:3'];
      const read = {
        whole: () => reader.whole(PLACE),
        part: () => reader.part(PLACE, true),
        download: () => download(data, objects)
      }[how];
      await expect(read?.()).rejects.toMatchObject({
        code: 'blob_quarantined',
        status: 409,
        message: DAMAGED
      });
      expect(store.reports).toEqual([[FILE]]);
    }
  );

  it('is not called damaged when the server finds it sound', async () => {
    const { store, reader } = open();
    store.stored = stored;
    await expect(reader.whole(PLACE)).rejects.toThrow(UNREADABLE);
    expect(store.reports).toHaveLength(1);
  });
});

describe('a file that is read', () => {
  it('is reported when a bucket has lost it, or sends too few bytes', async () => {
    const answers = [404, 410, 416, 206];
    for (const status of answers) {
      const { store, data, objects } = open(() =>
        Promise.resolve(new Response('on', { status }))
      );
      store.damaged = ['/file:3'];
      const fetched = new FetchedFiles(BUCKET_PAGE, {
        objects,
        damage: data
      });
      await expect(fetched.read(IN_BUCKET).next()).rejects.toThrow(DAMAGED);
      expect(store.reports).toEqual([[FILE]]);
    }
  });

  it('is not reported when the network fails, or the store is out of order', async () => {
    const cut = new ReadableStream({
      start: controller => {
        controller.enqueue(TEXT.slice(0, 5));
        controller.error(new TypeError('network error'));
      }
    });
    const failures: [typeof fetch, string][] = [
      [() => Promise.reject(new TypeError('offline')), 'cannot be reached'],
      [() => Promise.resolve(new Response(cut)), 'connection to the store'],
      [() => Promise.resolve(new Response('', { status: 503 })), 'status 503'],
      [() => Promise.resolve(new Response('', { status: 403 })), 'status 403']
    ];
    for (const [outside, sentence] of failures) {
      const { store, data, objects } = open(outside);
      const fetched = new FetchedFiles(BUCKET_PAGE, {
        objects,
        damage: data
      });
      await expect(fetched.read(IN_BUCKET).next()).rejects.toThrow(sentence);
      expect(store.reports).toEqual([]);
    }
  });

  it('is sound when its bytes are, and nothing is reported', async () => {
    const { store, data, objects, reader } = open();
    expect((await reader.whole(PLACE)).bytes).toEqual(TEXT);
    await download(data, objects);
    expect(store.reports).toEqual([]);
  });
});

describe('the sentence about damaged files', () => {
  const lost = new AcaiError('object_not_found', '', 404);
  const other = (name: string): IReportedFile => ({ path: name, version: 1 });

  it('names the file that was read first, then two others and the number of the rest', async () => {
    const source: IDamageSource = {
      reportDamage: () =>
        Promise.resolve({ damaged: ['/a:1', '/b:1', '/c:1', '/file:3'] })
    };
    const files = ['/a', '/b', '/c'].map(other);
    expect(await explained(lost, source, [FILE, ...files])).toMatchObject({
      message:
        "The stored bytes of '/file:3', '/a:1', '/b:1' and 1 more file are damaged. Put good copies of the files to heal them; acai-server repair looks for other copies."
    });
  });

  it('is not said when the server cannot be asked', async () => {
    const source: IDamageSource = {
      reportDamage: () => Promise.reject(new Error('offline'))
    };
    expect(await explained(lost, source, [FILE])).toMatchObject({
      message: UNREADABLE
    });
  });

  it('is about at most as many files as one report may have', async () => {
    const counts: number[] = [];
    const source: IDamageSource = {
      reportDamage: files => {
        counts.push(files.length);
        return Promise.resolve({ damaged: [] });
      }
    };
    const many = Array.from({ length: 1_500 }, (_, at) => other(`/${at}`));
    await explained(lost, source, [FILE, ...many]);
    expect(counts).toEqual([1_000]);
  });
});
