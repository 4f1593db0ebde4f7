import { describe, expect, it } from 'vitest';

import { AcaiClient } from '../src/core/client';
import { DataClient } from '../src/core/dataClient';
import { ObjectClient } from '../src/core/objectClient';
import {
  cutAtLines,
  partMeant,
  PART_BYTES,
  partsOf,
  previewPath,
  PreviewReader,
  readPreviewPath
} from '../src/core/previews';
import {
  encodePath,
  fileSpec,
  folderOf,
  nameOf,
  readFileSpec,
  readSetRef
} from '../src/core/specText';
import { modelOf } from '../src/data/models';
import { OpenModels } from '../src/data/openModels';
import { StoreTransport } from './store';

const asIs = (html: string): string => html;

function readerOf(bytes: Uint8Array<ArrayBuffer>): {
  reader: PreviewReader;
  store: StoreTransport;
} {
  const store = new StoreTransport(bytes);
  const client = new AcaiClient(store);
  const data = new DataClient(client, () => 'default');
  return { reader: new PreviewReader(data, new ObjectClient(client)), store };
}

const MIMES: { [end: string]: string } = {
  html: 'text/html',
  png: 'image/png',
  svg: 'image/svg+xml'
};

function mimeOf(path: string): string {
  return MIMES[path.split('.').pop() ?? ''] ?? 'text/plain';
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

async function notebook(body: string): Promise<unknown> {
  const { reader } = readerOf(new TextEncoder().encode(body));
  const name = 'default/3/a.ipynb';
  const shown = await modelOf(reader, name, { type: 'notebook' }, mimeOf, asIs);
  return shown.model.content;
}

const TABLE = new TextEncoder().encode(
  'number,square\n' +
    Array.from({ length: 200_000 }, (_, at) => `${at},${at * at}\n`).join('')
);
const place = {
  project: 'default',
  path: '/data/a b.csv',
  version: 3,
  part: 1
};

describe('a preview', () => {
  it('is called by project, version and part', () => {
    expect(previewPath(place)).toBe('default/3/data/a b.csv');
    const second = { ...place, part: 2 };
    expect(previewPath(second)).toBe('default/3.2/data/a b.csv');
    for (const one of [place, second]) {
      expect(readPreviewPath(previewPath(one))).toEqual(one);
    }
    expect(readPreviewPath('default/three/data.csv')).toBeNull();
    expect(readPreviewPath('data.csv')).toBeNull();
  });

  it('shows all lines of a text once, part by part, and reads no more than it shows', async () => {
    const { reader, store } = readerOf(TABLE);
    let all = '';
    for (let part = 1; part <= partsOf(TABLE.length); part += 1) {
      const before = store.sent;
      const { bytes, sizeBytes } = await reader.part({ ...place, part }, false);
      expect(sizeBytes).toBe(TABLE.length);
      expect(store.sent - before).toBeLessThan(1.2 * PART_BYTES);
      expect(textOf(bytes).endsWith('\n')).toBe(true);
      all += textOf(bytes);
    }
    expect(all).toBe(textOf(TABLE));
  });

  it('has the first line of a table above each part', async () => {
    const { reader } = readerOf(TABLE);
    const { bytes } = await reader.part({ ...place, part: 2 }, true);
    const lines = textOf(bytes).split('\n');
    expect(lines[0]).toBe('number,square');
    expect(lines[1]).toMatch(/^\d+,\d+$/);
  });

  it('says that there is no such part', async () => {
    const { reader } = readerOf(TABLE);
    await expect(reader.part({ ...place, part: 99 }, false)).rejects.toThrow(
      '/data/a b.csv:3 has no part 99; it has 4.'
    );
  });

  it('refuses to show whole what is too large', async () => {
    const { reader, store } = readerOf(new Uint8Array(33_000_000));
    await expect(reader.whole(place)).rejects.toThrow('at most 31 MB');
    expect(store.sent).toBe(0);
  });

  it('is empty for a file without bytes', async () => {
    const { reader } = readerOf(new Uint8Array());
    expect((await reader.part(place, true)).bytes).toHaveLength(0);
  });

  it('is a model of the kind that a viewer asks for', async () => {
    const { reader } = readerOf(TABLE);
    const path = 'default/3/a.csv';
    const table = await modelOf(reader, path, { format: 'text' }, mimeOf, asIs);
    expect(table.model).toMatchObject({ name: 'a.csv', writable: false });
    expect(table.parts).toBe(partsOf(TABLE.length));
    expect(String(table.model.content).length).toBeLessThan(1.1 * PART_BYTES);
    const { reader: small } = readerOf(new Uint8Array([0, 1, 2]));
    const picture = 'default/3/a.png';
    const image = await modelOf(
      small,
      picture,
      { format: 'base64' },
      mimeOf,
      asIs
    );
    expect(image.model.content).toBe('AAEC');
    await expect(
      modelOf(small, 'default/3/a.bin', { format: 'text' }, mimeOf, asIs)
    ).rejects.toThrow('a.bin is not a text');
    expect(await notebook('{"cells": []}')).toEqual({ cells: [] });
  });

  it('is trusted in no cell of a notebook, whatever that says of itself', async () => {
    const cell = {
      cell_type: 'code',
      metadata: { trusted: true, tags: ['a'] },
      outputs: [{ data: { 'text/html': '<img src=x onerror=owned()>' } }]
    };
    const cells = [cell, { metadata: 1 }, {}];
    const hidden = '{"__proto__": {"metadata": {"trusted": true}}}';
    for (const body of [
      JSON.stringify({ nbformat: 4, cells }),
      JSON.stringify({ nbformat: 3, worksheets: [{ cells }, {}] }),
      `{"cells": [${hidden}]}`
    ]) {
      const content = JSON.stringify(await notebook(body));
      expect(content).not.toContain('"trusted":true');
      expect(content).toContain('"metadata":{"trusted":false');
    }
    expect(await notebook(JSON.stringify({ cells }))).toMatchObject({
      cells: [
        { ...cell, metadata: { trusted: false, tags: ['a'] } },
        { metadata: { trusted: false } },
        { metadata: { trusted: false } }
      ]
    });
  });

  it.each(['', '{', 'null', '[]', '1', '{"cells": 1}', '{"cells": [1]}'])(
    'says that %j is no notebook',
    async body => {
      await expect(notebook(body)).rejects.toThrow('a.ipynb is not a notebook');
    }
  );

  it('says of a drawing that it is one, as a viewer makes a picture of what it is told', async () => {
    const { reader } = readerOf(new TextEncoder().encode('<svg/>'));
    const path = 'default/3/a.svg';
    const drawing = await modelOf(
      reader,
      path,
      { format: 'text' },
      mimeOf,
      asIs
    );
    expect(drawing.model.mimetype).toBe('image/svg+xml');
  });

  it('has one part where it is shown whole, however large it is', async () => {
    const { reader } = readerOf(new Uint8Array(3 * PART_BYTES).fill(32));
    const path = 'default/3/a.json';
    const { parts } = await modelOf(
      reader,
      path,
      { format: 'text' },
      mimeOf,
      asIs
    );
    expect(parts).toBe(1);
  });
});

describe('a file that a document names beside itself', () => {
  const picture = new Uint8Array([0, 1, 2]);

  const open = () => new OpenModels(mimeOf, asIs);
  const urlIn = (models: OpenModels, reader: PreviewReader, path: string) =>
    models.urlOf(() => Promise.resolve(reader), path);

  it('is the newest, and nothing where there is none', async () => {
    const { reader, store } = readerOf(picture);
    // Its third version has nothing to do with the third one of the notebook.
    store.lacks.push('/a%3A1.png:3');
    const path = 'default/3/a:1.png';
    const url = await urlIn(open(), reader, path);
    expect(url).toBe('data:image/png;base64,AAEC');
    store.lacks.push('/a%3A1.png');
    expect(await urlIn(open(), reader, path)).toBe('data:,');
  });

  it('is no other version than the one that is open itself', async () => {
    const { reader, store } = readerOf(picture);
    const path = 'default/1/a.png';
    const models = open();
    const close = models.view(path);
    await models.read(reader, path, { format: 'base64' });
    expect(await urlIn(models, reader, path)).toContain('AAEC');
    store.lacks.push('/a.png:1');
    await expect(urlIn(models, reader, path)).rejects.toThrow();
    close();
    expect(await urlIn(models, reader, path)).toContain('AAEC');
  });

  it('is a page as it was read, for as long as one viewer shows it, and is not waited for', async () => {
    const { reader, store } = readerOf(new TextEncoder().encode('<p>é</p>'));
    const path = 'default/1/a.html';
    const models = open();
    const never = () => new Promise<never>(() => undefined);
    expect(await models.urlOf(never, path)).toBe('data:,');
    const [one, other] = [models.view(path), models.view(path)];
    await models.read(reader, path, { format: 'text' });
    const { sent } = store;
    one();
    const url = await models.urlOf(never, path);
    expect(await (await fetch(url)).text()).toBe('<p>é</p>');
    expect(store.sent).toBe(sent);
    other();
    expect(await models.urlOf(never, path)).toBe('data:,');
  });

  it('is not read for a link to it', async () => {
    const { reader, store } = readerOf(picture);
    await expect(urlIn(open(), reader, 'default/3/a.csv')).rejects.toThrow(
      'cannot be downloaded from here'
    );
    expect(store.sent).toBe(0);
  });
});

describe('the part that somebody goes to', () => {
  it('is one of those that there are, and the same where nothing was typed', () => {
    const meant = ['3', '0', '99', '2.6', '', ' ', 'e'].map(typed =>
      partMeant(typed, 4, 9)
    );
    expect(meant).toEqual([3, 1, 9, 3, 4, 4, 4]);
  });
});

describe('parts of lines', () => {
  it('lose nothing and repeat nothing, wherever lines end', () => {
    const bytes = new TextEncoder().encode('a\nbb\n\n\nccc\ndddd\n');
    for (let size = 1; size < 8; size += 1) {
      let all = '';
      for (let begin = 0; begin < bytes.length; begin += size) {
        const first = Math.max(0, begin - 1);
        const end = Math.min(bytes.length, begin + size);
        const isLast = end === bytes.length;
        const read = bytes.subarray(first);
        all += textOf(cutAtLines(read, begin - first, end - first, isLast));
      }
      expect(all, `parts of ${size}`).toBe(textOf(bytes));
    }
  });
});

describe('paths and specs', () => {
  it('are read as they were written', () => {
    const path = '/a:b/c@d/100%.csv';
    expect(encodePath(path)).toBe('/a%3Ab/c%40d/100%25.csv');
    expect(readFileSpec(fileSpec(path, 12))).toEqual({ path, version: 12 });
    expect(readFileSpec('/a.csv')).toBeNull();
    expect(readFileSpec('train:3')).toBeNull();
    expect(readSetRef('train:3')).toEqual({ name: 'train', version: 3 });
    expect(readSetRef('train')).toBeNull();
  });

  it('have names and folders', () => {
    expect([nameOf('/a/b.csv'), nameOf('/a/b/')]).toEqual(['b.csv', 'b']);
    expect([folderOf('/a/b.csv'), folderOf('/a/b/'), folderOf('/a')]).toEqual([
      '/a/',
      '/a/',
      '/'
    ]);
  });
});
