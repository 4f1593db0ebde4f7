import type { IFetchPage, IPlace } from '../contract';
import { AcaiError } from './errors';
import type { ObjectClient } from './objectClient';
import { Sha256, sha256Of } from './sha256';
import { fileSpec } from './specText';
import { trans } from './translation';

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

/** Reads the files of a page whole, and holds each against its hash. */
export class FetchedFiles {
  constructor(
    private readonly objects: ObjectClient,
    page: IFetchPage,
    private readonly signal?: AbortSignal
  ) {
    this.windows = windowsOf(page);
  }

  /** The bytes of one of the files, piece by piece; throws behind the last one when they are not what was put. */
  async *read(file: IPlace): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const [path, version, size, sha256, , offset] = file;
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
      throw new AcaiError(
        'hash_mismatch',
        trans.__(
          'The bytes of %1 in the store are not those that were put. Whoever has the file can put it again.',
          fileSpec(path, version)
        ),
        409
      );
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
    return this.objects.read(url, begin, end - 1, this.signal);
  }

  private readonly windows: Map<IPlace, IWindow>;
  private readonly kept = new Map<IWindow, Promise<ArrayBuffer>>();
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
