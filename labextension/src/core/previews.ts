import { explained, wrongBytes } from './damage';
import type { DataClient } from './dataClient';
import { AcaiError } from './errors';
import { formatSize } from './format';
import type { ObjectClient } from './objectClient';
import { sha256Of } from './sha256';
import { encodePath, fileSpec, nameOf } from './specText';
import { trans } from './translation';

/** So much of a text is shown at once: what is longer comes in parts that end with a line. */
export const PART_BYTES = 1_000_000;
/** A line that goes over the end of a part is read on so far. */
const LINE_BYTES = 100_000;
/** What has to be there as a whole, as a picture or a notebook, is shown up to this size. */
export const WHOLE_BYTES = 32_000_000;
/** Of versions, which begin at one. */
const NEWEST = 0;

/** A version of a file, and which part of it. */
export interface IPreviewPlace {
  project: string;
  path: string;
  version: number;
  part: number;
}

/** How a place is called in JupyterLab: `default/3/data/train.csv`, its second part `default/3.2/data/train.csv`. */
export function previewPath(place: IPreviewPlace): string {
  const { project, path, version, part } = place;
  return `${project}/${version}${part === 1 ? '' : `.${part}`}${path}`;
}

export function readPreviewPath(text: string): IPreviewPlace | null {
  const found = /^\/?([^/]+)\/([1-9]\d{0,8})(?:\.([1-9]\d{0,8}))?(\/.+)$/s.exec(
    text
  );
  return found === null
    ? null
    : {
        project: found[1] ?? '',
        version: Number(found[2]),
        part: Number(found[3] ?? 1),
        path: found[4] ?? ''
      };
}

/** How many parts there are of so many bytes of text. */
export function partsOf(sizeBytes: number): number {
  return Math.max(1, Math.ceil(sizeBytes / PART_BYTES));
}

/** The part that a number means that somebody typed; one of those that there are, and without a number the same as before. */
export function partMeant(typed: string, part: number, parts: number): number {
  const wanted = typed.trim() === '' ? NaN : Math.round(Number(typed));
  return Number.isNaN(wanted) ? part : Math.min(parts, Math.max(1, wanted));
}

/** What is shown of a version: the bytes, and how large all of it is. */
export interface IPreview {
  bytes: Uint8Array;
  sizeBytes: number;
}

/** Reads versions of files, never more of one than is shown. Reports those whose stored bytes are damaged. */
export class PreviewReader {
  constructor(
    private readonly client: DataClient,
    private readonly objects: ObjectClient
  ) {}

  /** One part of a text. Of a table the first line stands above each part. */
  async part(place: IPreviewPlace, isTable: boolean): Promise<IPreview> {
    const file = await this.locate(place);
    const { sizeBytes } = file;
    if (place.part > partsOf(sizeBytes)) {
      throw new AcaiError(
        'part_not_found',
        trans.__(
          '%1 has no part %2; it has %3.',
          fileSpec(place.path, place.version),
          place.part,
          partsOf(sizeBytes)
        ),
        404
      );
    }
    const begin = (place.part - 1) * PART_BYTES;
    const end = Math.min(sizeBytes, begin + PART_BYTES);
    // The byte before tells whether a line begins here.
    const first = Math.max(0, begin - 1);
    const read = await file.read(first, Math.min(sizeBytes, end + LINE_BYTES));
    const isLast = end === sizeBytes;
    const bytes = cutAtLines(read, begin - first, end - first, isLast);
    if (!isTable || place.part === 1) {
      return { bytes, sizeBytes };
    }
    const head = await file.read(0, Math.min(sizeBytes, LINE_BYTES));
    return { bytes: joined(firstLine(head), bytes), sizeBytes };
  }

  /** All of it, of what is of no use in parts. */
  async whole(place: IPreviewPlace): Promise<IPreview> {
    const file = await this.locate(place);
    const { sizeBytes } = file;
    if (sizeBytes > WHOLE_BYTES) {
      throw new AcaiError(
        'too_large_to_show',
        trans.__(
          '%1 has %2; of its kind only what has at most %3 is shown here. Download it, or open it in a notebook.',
          nameOf(place.path),
          formatSize(sizeBytes),
          formatSize(WHOLE_BYTES)
        ),
        413
      );
    }
    return { bytes: await file.read(0, sizeBytes), sizeBytes };
  }

  /** All of what another document names beside itself: files are counted by themselves, so the same number says nothing. */
  newest(place: IPreviewPlace): Promise<IPreview> {
    return this.whole({ ...place, version: NEWEST });
  }

  /** Where to read ranges of it, for what knows by itself which it needs. */
  async locate(place: IPreviewPlace): Promise<ILocated> {
    const page = await this.client.fetch(
      place.version === NEWEST
        ? encodePath(place.path)
        : fileSpec(place.path, place.version)
    );
    const file = page.files[0];
    const url = page.objects[file?.[4] ?? 0];
    if (file === undefined || url === undefined) {
      throw new AcaiError(
        'file_not_found',
        trans.__('There is no such file.'),
        404
      );
    }
    const [path, version, sizeBytes, sha256, , offset] = file;
    const read = async (from: number, to: number): Promise<Uint8Array> => {
      const bytes = new Uint8Array(
        await this.objects.read(url, offset + from, offset + to - 1)
      );
      // A part of a file has no hash to compare with.
      const isWhole = from === 0 && to === sizeBytes;
      if (isWhole && (await sha256Of(bytes)) !== sha256) {
        throw wrongBytes({ path, version });
      }
      return bytes;
    };
    return {
      sizeBytes,
      read: async (from, to) => {
        if (from >= to) {
          return new Uint8Array();
        }
        try {
          return await read(from, to);
        } catch (error) {
          throw await explained(error, this.client, [{ path, version }]);
        }
      }
    };
  }
}

export interface ILocated {
  sizeBytes: number;
  /** From one place on to another, which is not included. */
  read: (from: number, to: number) => Promise<Uint8Array>;
}

const LINE_END = 10;

/**
 * The lines that begin from one place on and before another; one that began earlier is of the part before, unless it goes on
 * for so long that it was cut there.
 */
export function cutAtLines(
  bytes: Uint8Array,
  begin: number,
  end: number,
  isLast: boolean
): Uint8Array {
  const next = begin === 0 ? 0 : bytes.indexOf(LINE_END, begin - 1) + 1;
  const isCut = begin > 0 && (next === 0 || next > begin + LINE_BYTES);
  const after = isLast ? bytes.length : bytes.indexOf(LINE_END, end - 1) + 1;
  return bytes.subarray(isCut ? begin : next, after === 0 ? end : after);
}

function firstLine(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, bytes.indexOf(LINE_END) + 1);
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const all = new Uint8Array(one.length + other.length);
  all.set(one);
  all.set(other, one.length);
  return all;
}
