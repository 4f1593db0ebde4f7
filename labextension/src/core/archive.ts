import { downloadZip } from 'client-zip';

import type { IFetchPage } from '../contract';
import type { IDamageSource } from './damage';
import { AcaiError } from './errors';
import { FetchedFiles } from './fetched';
import { formatSize } from './format';
import type { ObjectClient } from './objectClient';
import { quoted } from './shellWords';
import { decodePath, nameOf, readFileSpec } from './specText';
import { trans } from './translation';

/** A browser keeps all of a download before it saves it. */
export const MOST_BYTES = 4_000_000_000;
const PAGE = 1_000;

/** The one file that specs name, in a version or in the newest; null where they name a folder, a set, or several things. */
export function fileMeant(
  specs: readonly string[]
): { spec: string; name: string } | null {
  const [spec = ''] = specs;
  const isFile =
    specs.length === 1 && spec.startsWith('/') && !spec.endsWith('/');
  const path = readFileSpec(spec)?.path ?? decodePath(spec);
  return isFile ? { spec, name: nameOf(path) } : null;
}

/** Says where the bytes of a spec are, and takes reports of damaged files. */
export interface IArchiveSource extends IDamageSource {
  fetch(spec: string, after: string, limit: number): Promise<IFetchPage>;
}

/** How far it is. */
export interface IArchived {
  files: number;
  bytes: number;
}

interface IEntry {
  name: string;
  input: AsyncIterable<Uint8Array>;
}

/**
 * A zip of all that specs name: of one folder below its name, else by the paths. It is put together in the page, as data does
 * not pass through the server; bytes are fetched as they are written, and the browser keeps what is done on its disk.
 */
export class Archive {
  constructor(
    private readonly source: IArchiveSource,
    private readonly objects: ObjectClient,
    private readonly specs: readonly string[],
    private readonly signal: AbortSignal,
    private readonly onStep: (done: IArchived) => void = () => undefined
  ) {}

  async make(): Promise<Blob> {
    try {
      return await downloadZip(this.noting(this.entries())).blob();
    } catch (error) {
      throw this.trouble ?? error;
    }
  }

  private async *entries(): AsyncGenerator<IEntry> {
    const named = new Set<string>();
    for (const spec of this.specs) {
      let after: string | null = '';
      while (after !== null) {
        const page: IFetchPage = await this.source.fetch(spec, after, PAGE);
        const fetched = new FetchedFiles(page, {
          objects: this.objects,
          damage: this.source,
          signal: this.signal
        });
        const wanted = page.files.filter(
          ([path]) => !named.has(this.nameIn(page, path))
        );
        this.refuseMore(wanted.reduce((sum, [, , size]) => sum + size, 0));
        for (const file of page.files) {
          const [path, , size] = file;
          const name = this.nameIn(page, path);
          // Who chose a file and its folder gets it once.
          if (!named.has(name)) {
            named.add(name);
            yield { name, input: this.noting(fetched.read(file)) };
            this.step(1, size);
          }
        }
        after = page.next ?? null;
      }
    }
    if (named.size === 0) {
      throw new AcaiError('file_not_found', trans.__('It has no files.'), 404);
    }
  }

  /** `raw/img/1.png` of `/data/raw/img/1.png` when all below `/data/raw/` is wanted. */
  private nameIn({ root, is_file }: IFetchPage, path: string): string {
    const isFolder = this.specs.length === 1 && !is_file && root !== '/';
    return isFolder
      ? `${nameOf(root)}/${path.slice(root.length)}`
      : path.slice(1);
  }

  /** What goes wrong amid a stream browsers tell as a request that failed, whatever it was. */
  private async *noting<T>(things: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      for await (const thing of things) {
        this.signal.throwIfAborted();
        yield thing;
      }
    } catch (error) {
      this.trouble ??= error;
      throw error;
    }
  }

  private step(files: number, bytes: number): void {
    this.done.files += files;
    this.done.bytes += bytes;
    this.onStep(this.done);
  }

  private refuseMore(bytes: number): void {
    if (this.done.bytes + bytes > MOST_BYTES) {
      throw new AcaiError(
        'too_large_to_archive',
        trans.__(
          'It has more than %1, which is too much for an archive in a page. Type %2 in a shell instead.',
          formatSize(MOST_BYTES),
          this.specs.map(spec => `acai get ${quoted(spec)} .`).join('; ')
        ),
        413
      );
    }
  }

  private readonly done: IArchived = { files: 0, bytes: 0 };
  private trouble: unknown = null;
}
