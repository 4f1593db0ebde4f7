import { describe, expect, it } from 'vitest';

import { AcaiClient } from '../src/core/client';
import { DataClient } from '../src/core/dataClient';
import { ObjectClient } from '../src/core/objectClient';
import { PreviewReader } from '../src/core/previews';
import { modelOf } from '../src/data/models';
import brotli from './data/brotli.parquet?url&inline';
import gzip from './data/gzip.parquet?url&inline';
import lz4 from './data/lz4.parquet?url&inline';
import snappy from './data/snappy.parquet?url&inline';
import zstd from './data/zstd.parquet?url&inline';
import { StoreTransport } from './store';

const TEXT = { type: 'file', format: 'text', content: true } as const;

async function bytesOf(url: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await (await fetch(url)).arrayBuffer());
}

function readerOf(bytes: Uint8Array<ArrayBuffer>): {
  reader: PreviewReader;
  store: StoreTransport;
} {
  const store = new StoreTransport(bytes);
  const client = new AcaiClient(store);
  const data = new DataClient(client, () => 'default');
  return { reader: new PreviewReader(data, new ObjectClient(client)), store };
}

async function linesOf(
  reader: PreviewReader,
  version: string
): Promise<string[]> {
  const path = `default/${version}/t.parquet`;
  const { model, parts } = await modelOf(
    reader,
    path,
    TEXT,
    () => '',
    html => html
  );
  expect(parts).toBe(5);
  return String(model.content).split('\n');
}

describe.each([
  { codec: 'Snappy', url: snappy },
  { codec: 'Zstandard', url: zstd },
  { codec: 'gzip', url: gzip },
  { codec: 'LZ4', url: lz4 },
  { codec: 'Brotli', url: brotli }
])('a preview of Parquet with $codec', ({ url }) => {
  it('has each row once, part by part, and reads no more than these take', async () => {
    const bytes = await bytesOf(url);
    const { reader, store } = readerOf(bytes);
    let number = 0;
    for (let part = 1; part <= 5; part += 1) {
      const before = store.sent;
      const [head, ...rows] = await linesOf(reader, `1.${part}`);
      expect(store.sent - before).toBeLessThan(0.6 * bytes.length);
      expect(head).toBe(',number,name,digest,share,at,list');
      expect(rows).toHaveLength(1_000);
      for (const row of rows) {
        expect(row.startsWith(`${number},${number},`)).toBe(true);
        number += 1;
      }
    }
  });

  it('shows values as texts in one line, whatever they hold', async () => {
    const { reader } = readerOf(await bytesOf(url));
    const [, first, second] = await linesOf(reader, '1');
    expect(first).toContain(',"<img src=x>, ""0""\\nof it",');
    expect(first).toContain(',,2026-01-01T00:00:00.000Z,"[""0"",""1""]"');
    expect(second).toContain(',0.125,2026-01-01T01:00:00.000Z,');
  });

  it('has no part beyond its last', async () => {
    const { reader } = readerOf(await bytesOf(url));
    await expect(linesOf(reader, '1.6')).rejects.toMatchObject({
      code: 'part_not_found'
    });
  });
});

describe('what is no Parquet', () => {
  it('is told in a sentence', async () => {
    const good = await bytesOf(snappy);
    for (const bytes of [
      new Uint8Array(),
      new TextEncoder().encode('number,square\n1,1\n'),
      good.subarray(0, 5_000),
      good.map((byte, at) => (at % 97 === 5 ? 255 : byte))
    ]) {
      const { reader } = readerOf(bytes);
      await expect(linesOf(reader, '1')).rejects.toMatchObject({
        code: 'not_understood',
        message: expect.stringMatching(/^t\.parquet cannot be shown/) as string
      });
    }
  });
});
