import type { IFetchPage, IPlace, IReportedFile } from '../contract';
import { explained, type IDamageSource, wrongBytes } from './damage';
import type { ObjectClient } from './objectClient';
import { Sha256, sha256Of } from './sha256';

/** So much of a large file is asked for at once. */
const PIECE_BYTES = 16_000_000;
/** Small files that stand near each other in one object are asked for together, up to this. */
const WINDOW_BYTES = 8_000_000;
/** So much between two of them is read along. */
const GAP_BYTES = 65_536;
/** So many windows are kept: files come by path, and not always as they stand in their objects. */
const MOST_WINDOWS = 4;

/** A range of an object; `end` is not included. */
interface IWindow {
  url: string;
  begin: number;
  end: number;
}

/** Where bytes are read from, and where damaged files are reported. */
export interface IFileBytes {
  objects: ObjectClient;
  damage: IDamageSource;
  signal?: AbortSignal;
}

/** Reads the files of a page whole, and compares each with its hash. Reports those whose stored bytes are damaged. */
export class FetchedFiles {
  constructor(
    private readonly page: IFetchPage,
    private readonly from: IFileBytes
  ) {
    this.windows = windowsOf(page);
  }

  /** The bytes of one of the files, piece by piece; throws after the last piece when they are not what was put. */
  async *read(file: IPlace): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    try {
      yield* this.pieces(file);
    } catch (error) {
      const { files } = this.page;
      // What damaged one file of an object has often damaged others.
      const near = files.filter(one => one !== file && one[4] === file[4]);
      throw await explained(error, this.from.damage, [
        reportedFile(file),
        ...near.map(reportedFile)
      ]);
    }
  }

  private async *pieces(file: IPlace): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const [, , size, sha256, , offset] = file;
    const window = this.windows.get(file);
    if (window === undefined) {
      return;
    }
    let found: string;
    if (window.end - window.begin <= WINDOW_BYTES) {
      const at = offset - window.begin;
      const all = new Uint8Array(await this.window(window));
      const bytes = all.subarray(at, at + size);
      found = await sha256Of(bytes);
      yield bytes;
    } else {
      const hash = new Sha256();
      for (let at = 0; at < size; at += PIECE_BYTES) {
        const begin = offset + at;
        const end = offset + Math.min(size, at + PIECE_BYTES);
        const bytes = await this.range({ ...window, begin, end });
        hash.update(new Uint8Array(bytes));
        yield new Uint8Array(bytes);
      }
      found = hash.hex();
    }
    if (found !== sha256) {
      throw wrongBytes(reportedFile(file));
    }
  }

  private window(window: IWindow): Promise<ArrayBuffer> {
    const kept = this.kept.get(window);
    if (kept !== undefined) {
      return kept;
    }
    const asked = this.range(window);
    this.kept.set(window, asked);
    const [oldest] = this.kept.keys();
    if (this.kept.size > MOST_WINDOWS && oldest !== undefined) {
      this.kept.delete(oldest);
    }
    return asked;
  }

  private range({ url, begin, end }: IWindow): Promise<ArrayBuffer> {
    const { objects, signal } = this.from;
    return objects.read(url, begin, end - 1, signal);
  }

  private readonly windows: Map<IPlace, IWindow>;
  private readonly kept = new Map<IWindow, Promise<ArrayBuffer>>();
}

function reportedFile([path, version]: IPlace): IReportedFile {
  return { path, version };
}

/** With which others each file is asked for; what has no bytes is in none. */
function windowsOf(page: IFetchPage): Map<IPlace, IWindow> {
  const found = new Map<IPlace, IWindow>();
  const files = page.files.filter(([, , size]) => size > 0);
  files.sort((a, b) => a[4] - b[4] || a[5] - b[5]);
  let last: IWindow | null = null;
  for (const file of files) {
    const [, , size, , object, offset] = file;
    const url = page.objects[object] ?? '';
    const end = offset + size;
    const isNear =
      last !== null &&
      last.url === url &&
      offset <= last.end + GAP_BYTES &&
      end - last.begin <= WINDOW_BYTES;
    if (last !== null && isNear) {
      last.end = Math.max(last.end, end);
    } else {
      last = { url, begin: offset, end };
    }
    found.set(file, last);
  }
  return found;
}
