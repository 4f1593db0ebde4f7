import type { IFileOrigin, IFileVersion } from '../contract';
import type { DataClient } from './dataClient';
import { PagedList } from './pagedList';
import { encodePath, fileSpec } from './specText';
import { trans } from './translation';

/** What of the server is needed for the versions of a file. */
export type IVersionSource = Pick<DataClient, 'versions' | 'origin'>;

/** The versions of one file, the newest first, by pages; and what made each. */
export class FileVersions extends PagedList<IFileVersion, number> {
  constructor(
    private readonly source: IVersionSource,
    readonly path: string
  ) {
    super(async before => {
      const page = await source.versions(encodePath(path), before);
      return { items: page.versions, next: page.next ?? null };
    });
  }

  /** Where a version is from; null while that is not known. */
  originOf(version: number): IFileOrigin | null {
    return this.origins.get(version) ?? null;
  }

  /** Ask where the versions that are shown are from, one after the other: the newest is mostly what one wants to know of. */
  async trace(): Promise<void> {
    for (const { version, deleted_at } of this.items) {
      if (this.origins.has(version) || typeof deleted_at === 'string') {
        continue;
      }
      try {
        const spec = fileSpec(this.path, version);
        this.origins.set(version, await this.source.origin(spec));
        this.tell();
      } catch {
        // It is shown without.
        return;
      }
    }
  }

  private readonly origins = new Map<number, IFileOrigin>();
}

/** What made a version, in words: a job has a number, which is told apart. */
export function makerOf(origin: IFileOrigin | null): {
  words: string;
  job: number | null;
} {
  if (origin === null) {
    return { words: '', job: null };
  }
  const job = origin.action?.job?.number ?? null;
  const words =
    job === null
      ? (origin.action?.kind ?? trans.__('upload'))
      : trans.__('job %1', job);
  return { words, job };
}
