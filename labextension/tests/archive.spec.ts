import { describe, expect, it } from 'vitest';

import type {
  IDamageVerdict,
  IFetchPage,
  IPlace,
  IReportedFile
} from '../src/contract';
import { Archive, fileMeant } from '../src/core/archive';
import { AcaiClient, type ITransport } from '../src/core/client';
import { FetchedFiles } from '../src/core/fetched';
import { ObjectClient } from '../src/core/objectClient';
import { sha256Of } from '../src/core/sha256';

const SIGNED = 'http://elsewhere:8888/acai/api/v1/objects/';

/** Objects of one store; which ranges were asked for. */
class Store implements ITransport {
  readonly asked: string[] = [];
  readonly objects: { [key: string]: Uint8Array<ArrayBuffer> } = {};

  fetch(path: string, init: RequestInit): Promise<Response> {
    const key = /^v1\/objects\/(\w+)\?/.exec(path)?.[1] ?? '';
    const range = new Headers(init.headers).get('Range') ?? '';
    const [first = 0, last = 0] = range.slice(6).split('-').map(Number);
    this.asked.push(`${key} ${first}-${last}`);
    const body = this.objects[key]?.slice(first, last + 1);
    return Promise.resolve(new Response(body, { status: 206 }));
  }

  openSocket(): WebSocket {
    throw new Error('Nobody listens.');
  }

  /** Keep files one after the other in an object; returns where they are. */
  async keep(
    object: number,
    files: { [path: string]: string },
    between = 0
  ): Promise<IPlace[]> {
    const places: IPlace[] = [];
    const all: number[] = [];
    for (const [path, text] of Object.entries(files)) {
      const bytes = new TextEncoder().encode(text);
      const hash = await sha256Of(bytes);
      places.push([path, 1, bytes.length, hash, object, all.length]);
      all.push(...bytes, ...Array<number>(between).fill(0));
    }
    this.objects[`o${object}`] = new Uint8Array(all);
    return places;
  }
}

function pageOf(root: string, files: IPlace[]): IFetchPage {
  const objects = [0, 1].map(number => `${SIGNED}o${number}?signature=s`);
  return { root, is_file: false, files, objects };
}

/** As a server that finds each reported file damaged. */
function reportDamage(
  files: readonly IReportedFile[]
): Promise<IDamageVerdict> {
  const damaged = files.map(({ path, version }) => `${path}:${version}`);
  return Promise.resolve({ damaged: damaged.sort() });
}

function archiveOf(
  store: Store,
  pages: { [spec: string]: IFetchPage },
  signal = new AbortController().signal
): { archive: Archive; steps: number[] } {
  const steps: number[] = [];
  const source = {
    fetch: (spec: string, after: string) => {
      const page = pages[spec];
      if (page === undefined) {
        return Promise.reject(new Error(`nothing is called ${spec}`));
      }
      // In pages of two.
      const rest = page.files.filter(([path]) => path > after);
      const next = rest.length > 2 ? (rest[1]?.[0] ?? null) : null;
      return Promise.resolve({ ...page, files: rest.slice(0, 2), next });
    },
    reportDamage
  };
  const objects = new ObjectClient(new AcaiClient(store));
  const archive = new Archive(
    source,
    objects,
    Object.keys(pages),
    signal,
    ({ files }) => steps.push(files)
  );
  return { archive, steps };
}

/** The names that stand in an archive, in its list at the end. */
async function namesIn(archive: Blob): Promise<string[]> {
  const bytes = new Uint8Array(await archive.arrayBuffer());
  const view = new DataView(bytes.buffer);
  const names: string[] = [];
  for (let at = 0; at < bytes.length - 46; at += 1) {
    if (view.getUint32(at, true) === 0x02014b50) {
      const length = view.getUint16(at + 28, true);
      names.push(
        new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + length))
      );
    }
  }
  return names;
}

describe('an archive', () => {
  it('has a folder below its name, page by page', async () => {
    const store = new Store();
    const files = { '/d/raw/a': 'one', '/d/raw/b/c': 'two', '/d/raw/é': '3' };
    const places = await store.keep(0, files);
    const page = pageOf('/d/raw/', places);
    const { archive, steps } = archiveOf(store, { '/d/raw/': page });
    const made = await archive.make();
    expect(await namesIn(made)).toEqual(['raw/a', 'raw/b/c', 'raw/é']);
    expect(await made.text()).toContain('two');
    expect(steps).toEqual([1, 2, 3]);
  });

  it('has several things by their paths, each once', async () => {
    const store = new Store();
    const places = await store.keep(0, { '/a/b': 'one', '/a/c': 'two' });
    const { archive } = archiveOf(store, {
      '/a/b:1': { ...pageOf('/a/', places.slice(0, 1)), is_file: true },
      '/a/': pageOf('/a/', places)
    });
    expect(await namesIn(await archive.make())).toEqual(['a/b', 'a/c']);
  });

  it('has files without bytes, and is refused when it has none at all', async () => {
    const store = new Store();
    const empty = await store.keep(0, { '/empty': '' });
    const { archive } = archiveOf(store, { '@s': pageOf('/', empty) });
    expect(await namesIn(await archive.make())).toEqual(['empty']);
    expect(store.asked).toEqual([]);
    const { archive: none } = archiveOf(store, { '@s': pageOf('/', []) });
    await expect(none.make()).rejects.toThrow('It has no files.');
  });

  it('is refused when bytes are not those that were put, and the sentence names the files', async () => {
    const store = new Store();
    const places = await store.keep(0, { '/a': 'one', '/b': 'two' });
    store.objects.o0?.set([0], 4);
    const { archive } = archiveOf(store, { '@s': pageOf('/', places) });
    await expect(archive.make()).rejects.toThrow(
      "The stored bytes of '/b:1', '/a:1' are damaged."
    );
  });

  it('says what the server says, and ends when it is stopped', async () => {
    const store = new Store();
    const stopping = new AbortController();
    const places = await store.keep(0, { '/a': 'one' });
    const { archive } = archiveOf(
      store,
      { '@s': pageOf('/', places) },
      stopping.signal
    );
    stopping.abort(new Error('stopped'));
    await expect(archive.make()).rejects.toThrow('stopped');
    const refused = new Archive(
      {
        fetch: () => Promise.reject(new Error('There is no file set s.')),
        reportDamage
      },
      new ObjectClient(new AcaiClient(store)),
      ['@s'],
      new AbortController().signal
    );
    await expect(refused.make()).rejects.toThrow('There is no file set s.');
  });

  it('is refused before more is fetched than a browser keeps', async () => {
    const store = new Store();
    const large: IPlace = ['/large', 1, 4_000_000_001, 'aa', 0, 0];
    const { archive } = archiveOf(store, { '@s': pageOf('/', [large]) });
    await expect(archive.make()).rejects.toThrow('acai get @s .');
    expect(store.asked).toEqual([]);
  });
});

describe('an archive of too much', () => {
  it('is refused before any byte of a page is fetched, and each thing has its line', async () => {
    const store = new Store();
    const [small] = await store.keep(0, { '/a/1': 'one' });
    const large: IPlace = ['/a/2', 1, 4_000_000_000, 'aa', 0, 0];
    const page = pageOf('/a/', small === undefined ? [] : [small, large]);
    const other = pageOf('/b/', []);
    const { archive } = archiveOf(store, { '/a/': page, '/b c/': other });
    await expect(archive.make()).rejects.toThrow(
      "acai get /a/ .; acai get '/b c/' ."
    );
    expect(store.asked).toEqual([]);
  });
});

describe('one file that is chosen', () => {
  it('is saved by itself, in the newest version where none is known', () => {
    expect(fileMeant(['/a/b%3A1.csv:3'])).toEqual({
      spec: '/a/b%3A1.csv:3',
      name: 'b:1.csv'
    });
    expect(fileMeant(['/a/b%3A1'])?.name).toBe('b:1');
    expect(fileMeant(['/a/'])).toBeNull();
    expect(fileMeant(['@s:1'])).toBeNull();
    expect(fileMeant(['/a', '/b'])).toBeNull();
  });
});

describe('files of a page', () => {
  const read = async (store: Store, files: IPlace[]): Promise<string[]> => {
    const objects = new ObjectClient(new AcaiClient(store));
    const damage = { reportDamage };
    const fetched = new FetchedFiles(pageOf('/', files), { objects, damage });
    const found: string[] = [];
    for (const file of files) {
      for await (const piece of fetched.read(file)) {
        found.push(new TextDecoder().decode(piece));
      }
    }
    return found;
  };

  it('are read together where they stand near each other, whichever comes first', async () => {
    const store = new Store();
    const near = await store.keep(0, { '/a': 'aa', '/c': 'cc' });
    const other = await store.keep(1, { '/b': 'bb' });
    const files = [...near.slice(1), ...other, ...near.slice(0, 1)];
    expect(await read(store, files)).toEqual(['cc', 'bb', 'aa']);
    expect(store.asked).toEqual(['o0 0-3', 'o1 0-1']);
  });

  it('are read one by one where there is much between them', async () => {
    const store = new Store();
    const places = await store.keep(0, { '/a': 'aa', '/b': 'bb' }, 70_000);
    expect(await read(store, places)).toEqual(['aa', 'bb']);
    expect(store.asked).toEqual(['o0 0-1', 'o0 70002-70003']);
  });

  it('are read in pieces when they are large, and held against their hash too', async () => {
    const store = new Store();
    const bytes = new Uint8Array(20_000_000).fill(7);
    store.objects.o0 = bytes;
    const hash = await sha256Of(bytes);
    const file: IPlace = ['/a', 1, bytes.length, hash, 0, 0];
    const found = (await read(store, [file])).map(text => text.length);
    expect(found).toEqual([16_000_000, 4_000_000]);
    const wrong: IPlace = ['/a', 1, bytes.length, 'aa', 0, 0];
    await expect(read(store, [wrong])).rejects.toThrow(
      "The stored bytes of '/a:1' are damaged."
    );
  });
});
