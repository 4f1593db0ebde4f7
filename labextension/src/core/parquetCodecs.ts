import { decompress } from 'fzstd';
import {
  type Compressors,
  type FileMetaData,
  snappyUncompress
} from 'hyparquet';

import { formatSize } from './format';
import { trans } from './translation';

/** A page says how large it becomes; one that says more is none that somebody wrote to be read. */
const PAGE_BYTES = 256_000_000;

const USUAL: Compressors = {
  ZSTD: (input, size) => decompress(input, pageOf(size)),
  SNAPPY: (input, size) => {
    const page = pageOf(size);
    snappyUncompress(input, page);
    return page;
  }
};

/** Those that are rare are loaded when a file has them: of Brotli alone, its dictionary is larger than all the rest. */
const RARE: { [codec: string]: () => Promise<Compressors> } = {
  GZIP: async () => {
    const { gunzip } = await import('hyparquet-compressors/src/gzip.js');
    return { GZIP: (input, size) => gunzip(input, pageOf(size)) };
  },
  LZ4: async () => {
    const { decompressLz4 } = await import('hyparquet-compressors/src/lz4.js');
    return { LZ4: (input, size) => decompressLz4(input, checked(size)) };
  },
  LZ4_RAW: async () => {
    const { decompressLz4Raw } =
      await import('hyparquet-compressors/src/lz4.js');
    return { LZ4_RAW: (input, size) => decompressLz4Raw(input, checked(size)) };
  },
  BROTLI: async () => {
    const { decompressBrotli } =
      await import('hyparquet-compressors/src/brotli.js');
    return { BROTLI: (input, size) => decompressBrotli(input, checked(size)) };
  }
};

/** What it takes to read the pages of a file. */
export async function compressorsFor(
  metadata: FileMetaData
): Promise<Compressors> {
  const codecs = new Set(
    metadata.row_groups.flatMap(({ columns }) =>
      columns.map(one => String(one.meta_data?.codec))
    )
  );
  const rare = await Promise.all(
    Object.entries(RARE)
      .filter(([codec]) => codecs.has(codec))
      .map(([, load]) => load())
  );
  return Object.assign({}, USUAL, ...rare) as Compressors;
}

function pageOf(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(checked(size));
}

function checked(size: number): number {
  if (!(size >= 0 && size <= PAGE_BYTES)) {
    throw new Error(trans.__('a page of %1', formatSize(size)));
  }
  return size;
}
