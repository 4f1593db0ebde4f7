import {
  type FileMetaData,
  parquetMetadataAsync,
  parquetRead,
  parquetSchema
} from 'hyparquet';

import { AcaiError } from './errors';
import { formatSize } from './format';
import { compressorsFor } from './parquetCodecs';
import { type ILocated, WHOLE_BYTES } from './previews';
import { oneLine } from './text';
import { trans } from './translation';

/** So many rows are shown at once. */
export const PART_ROWS = 1_000;
/** What is longer in one cell is cut; it is a preview. */
const CELL_CHARACTERS = 1_000;
/** Where its columns are is told at the end of a file; of most, in so many bytes. */
const FOOTER_BYTES = 32_000;

/** Some rows of a table as CSV, which JupyterLab has a viewer for, and how many such parts there are. */
export interface IParquetPart {
  text: string;
  parts: number;
}

/** Reads one part, and of the file no more than its footer and the pages that these rows are in. */
export async function parquetPart(
  file: ILocated,
  name: string,
  part: number
): Promise<IParquetPart> {
  const buffer = new Ranges(file, name);
  const metadata = await understood(name, () =>
    parquetMetadataAsync(buffer, { initialFetchSize: FOOTER_BYTES })
  );
  const rowCount = Number(metadata.num_rows);
  const parts = Math.max(1, Math.ceil(rowCount / PART_ROWS));
  if (part > parts) {
    throw new AcaiError(
      'part_not_found',
      trans.__('%1 has no part %2; it has %3.', name, part, parts),
      404
    );
  }
  const begin = (part - 1) * PART_ROWS;
  const rows = await understood(name, () =>
    rowsOf(buffer, metadata, begin, Math.min(rowCount, begin + PART_ROWS))
  );
  const head = ['', ...columnsOf(metadata)];
  const lines = rows.map((row, at) => [begin + at, ...row]);
  return { text: [head, ...lines].map(lineOf).join('\n'), parts };
}

function columnsOf(metadata: FileMetaData): string[] {
  return parquetSchema(metadata).children.map(one => one.element.name);
}

async function rowsOf(
  file: Ranges,
  metadata: FileMetaData,
  rowStart: number,
  rowEnd: number
): Promise<unknown[][]> {
  const compressors = await compressorsFor(metadata);
  return new Promise((onComplete, fail) => {
    parquetRead({
      file,
      metadata,
      rowStart,
      rowEnd,
      rowFormat: 'array',
      compressors,
      useOffsetIndex: true,
      onComplete
    }).catch(fail);
  });
}

/** A file by ranges; what is asked of it altogether is bounded, as its footer can say anything. */
class Ranges {
  constructor(
    private readonly file: ILocated,
    private readonly name: string
  ) {}

  get byteLength(): number {
    return this.file.sizeBytes;
  }

  async slice(from: number, to = this.byteLength): Promise<ArrayBuffer> {
    if (!(from >= 0 && from <= to && to <= this.byteLength)) {
      throw new Error(trans.__('it names a place that is not in the file'));
    }
    this.rest -= to - from;
    if (this.rest < 0) {
      throw new AcaiError(
        'too_large_to_show',
        trans.__(
          'More than %1 of %2 would have to be read to show some of its rows: its row groups are large and have no index. Open it in a notebook.',
          formatSize(WHOLE_BYTES),
          this.name
        ),
        413
      );
    }
    const read = await this.file.read(from, to);
    return read.buffer.slice(
      read.byteOffset,
      read.byteOffset + read.byteLength
    ) as ArrayBuffer;
  }

  private rest = WHOLE_BYTES;
}

/** What the library says of a file that it cannot read is for those who know the format; people are told what to do. */
async function understood<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof AcaiError) {
      throw error;
    }
    const reason = oneLine((error as Error).message).slice(0, 200);
    throw new AcaiError(
      'not_understood',
      trans.__(
        '%1 cannot be shown as a table (%2). Download it, or open it in a notebook.',
        name,
        reason
      ),
      415
    );
  }
}

function lineOf(cells: readonly unknown[]): string {
  return cells.map(cellOf).join(',');
}

/** A cell of CSV: one line, in quotes where it needs them. */
function cellOf(value: unknown): string {
  const text = oneLine(textOf(value));
  const cut =
    text.length > CELL_CHARACTERS ? `${text.slice(0, CELL_CHARACTERS)}…` : text;
  return /[",]|^\s|\s$/.test(cut) ? `"${cut.replaceAll('"', '""')}"` : cut;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) {
    return '';
  }
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? '' : value.toISOString();
  }
  if (value instanceof Uint8Array) {
    return trans._n('%1 byte', '%1 bytes', value.length);
  }
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return JSON.stringify(value, plain);
  }
}

function plain(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
