import type { AcaiClient } from './client';
import type { ObjectClient } from './objectClient';
import {
  type IGivenFile,
  type IKeptUpload,
  type IUploadMemory,
  Upload
} from './upload';
import { UploadClient } from './uploadClient';

/** Where a page keeps a little, as the browser's own storage does. */
export type ILittleStorage = Pick<Storage, 'getItem' | 'setItem'>;

const KEY = 'acai-jupyter:uploads';

/**
 * The uploads of a page: those under way, and those that were broken off when an earlier page was closed. A page cannot open
 * files by itself that somebody once gave to another, so these go on when the same are given again.
 */
export class UploadList implements IUploadMemory {
  constructor(
    private readonly client: AcaiClient,
    private readonly objects: ObjectClient,
    private readonly storage: ILittleStorage,
    private readonly project: () => string
  ) {}

  uploads: readonly Upload[] = [];

  get isSending(): boolean {
    return this.uploads.some(one => one.phase === 'sending');
  }

  /** What was broken off, of the page's project. */
  get brokenOff(): IKeptUpload[] {
    const live = new Set(this.uploads.map(one => one.kept.id));
    const project = this.project();
    return this.kept().filter(
      one => one.project === project && !live.has(one.id)
    );
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  /** Send files to a folder; the same files again go on with what was broken off. */
  start(given: readonly IGivenFile[], folder: string): Upload {
    const label = labelOf(given, folder);
    const bytes = given.reduce((sum, one) => sum + one.file.size, 0);
    const known = this.brokenOff.find(
      one => one.label === label && one.files === given.length
    );
    const project = this.project();
    const files = given.length;
    const kept = known ?? {
      ...{ id: '', project, folder, label, files, bytes },
      large: {}
    };
    // The server makes lists of files that come by path while they come.
    const placed = given
      .map(({ path, file }) => ({ path: `${folder}${path}`, file }))
      .sort((one, other) => (one.path < other.path ? -1 : 1));
    const upload = new Upload(
      new UploadClient(this.client, project),
      this.objects,
      this,
      kept,
      placed
    );
    this.uploads = [...this.uploads, upload];
    upload.subscribe(this.tell);
    this.tell();
    void upload.run();
    return upload;
  }

  /** Take one that has ended out of the list. */
  dismiss(upload: Upload): void {
    this.uploads = this.uploads.filter(one => one !== upload);
    this.tell();
  }

  /** Give up what was broken off. */
  async giveUp(kept: IKeptUpload): Promise<void> {
    this.forget(kept.id);
    this.tell();
    await new UploadClient(this.client, kept.project).abort(kept.id);
  }

  keep(upload: IKeptUpload): void {
    const rest = this.kept().filter(one => one.id !== upload.id);
    this.write([...rest, upload]);
  }

  forget(id: string): void {
    this.write(this.kept().filter(one => one.id !== id));
  }

  private kept(): IKeptUpload[] {
    try {
      const found: unknown = JSON.parse(this.storage.getItem(KEY) ?? '[]');
      return Array.isArray(found) ? (found as IKeptUpload[]) : [];
    } catch {
      return [];
    }
  }

  private write(kept: readonly IKeptUpload[]): void {
    try {
      this.storage.setItem(KEY, JSON.stringify(kept));
    } catch {
      // A full or closed storage: it goes on, but not after the page is gone.
    }
  }

  private readonly tell = (): void => {
    for (const listener of [...this.listeners]) {
      listener();
    }
  };

  private readonly listeners = new Set<() => void>();
}

/** What people read in the list of sessions: `photos, notes.txt to /raw/`. */
function labelOf(given: readonly IGivenFile[], folder: string): string {
  const tops = [...new Set(given.map(one => one.path.split('/')[0] ?? ''))];
  const [shown, more] = [tops.slice(0, 3), tops.length - 3];
  const rest = more > 0 ? ` and ${more} more` : '';
  return `${shown.join(', ')}${rest} to ${folder}`.slice(0, 500);
}
