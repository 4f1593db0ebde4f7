import type { AcaiClient } from './client';
import type { ObjectClient } from './objectClient';
import {
  type IGivenFile,
  type IKeptUpload,
  type IUploadMemory,
  Upload
} from './upload';
import { UploadClient } from './uploadClient';
import { UploadLocks } from './uploadLocks';

/** Where a page keeps a little, as the browser's own storage does. */
export type ILittleStorage = Pick<Storage, 'getItem' | 'setItem'>;

/** Where it keeps which uploads there are, of all pages of a browser. */
export const UPLOADS_KEY = 'acai-jupyter:uploads';

/**
 * The uploads of a page: those under way, and those that were broken off when an earlier page was closed. A page cannot open
 * files by itself that somebody once gave to another, so these go on when the same are given again.
 */
export class UploadList implements IUploadMemory {
  constructor(
    private readonly client: AcaiClient,
    private readonly objects: ObjectClient,
    private readonly storage: ILittleStorage,
    private readonly project: () => string,
    private readonly locks = new UploadLocks()
  ) {
    void this.look();
  }

  uploads: readonly Upload[] = [];

  get isSending(): boolean {
    return this.uploads.some(one => one.phase === 'sending');
  }

  /** What was broken off, of the page's project; as far as it can be told, see `canTell`. */
  get brokenOff(): IKeptUpload[] {
    return this.notHere().filter(
      ({ id }) => !this.canTell || this.free.has(id)
    );
  }

  /** What another page sends, of the page's project. */
  get elsewhere(): IKeptUpload[] {
    return this.notHere().filter(({ id }) => this.others.has(id));
  }

  /** Whether what was broken off can be told from what another page sends. */
  get canTell(): boolean {
    return this.locks.canTell;
  }

  /** Find out which uploads other pages send. To be called when one of them wrote down that there is another. */
  async look(): Promise<void> {
    const ids = this.kept().map(one => one.id);
    const others = await this.locks.others(ids);
    for (const id of others) {
      if (!this.others.has(id)) {
        void this.locks.whenFree(id).then(() => {
          this.others.delete(id);
          return this.look();
        });
      }
    }
    this.others = others;
    this.free = new Set(ids.filter(id => !others.has(id)));
    this.tell();
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
    this.locks.release(upload.kept.id);
    this.free.add(upload.kept.id);
    this.uploads = this.uploads.filter(one => one !== upload);
    this.tell();
  }

  /** Give up what was broken off. */
  async giveUp(kept: IKeptUpload): Promise<void> {
    if (!(await this.take(kept.id))) {
      await this.look(); // another page goes on with it
      return;
    }
    this.forget(kept.id);
    this.tell();
    await new UploadClient(this.client, kept.project).abort(kept.id);
  }

  take(id: string): Promise<boolean> {
    return this.locks.take(id);
  }

  keep(upload: IKeptUpload): void {
    const rest = this.kept().filter(one => one.id !== upload.id);
    this.write([...rest, upload]);
  }

  forget(id: string): void {
    this.write(this.kept().filter(one => one.id !== id));
    this.locks.release(id);
  }

  private notHere(): IKeptUpload[] {
    const live = new Set(this.uploads.map(one => one.kept.id));
    const project = this.project();
    return this.kept().filter(
      one => one.project === project && !live.has(one.id)
    );
  }

  private kept(): IKeptUpload[] {
    try {
      const found: unknown = JSON.parse(
        this.storage.getItem(UPLOADS_KEY) ?? '[]'
      );
      return Array.isArray(found) ? (found as IKeptUpload[]) : [];
    } catch {
      return [];
    }
  }

  private write(kept: readonly IKeptUpload[]): void {
    try {
      this.storage.setItem(UPLOADS_KEY, JSON.stringify(kept));
    } catch {
      // A full or closed storage: it goes on, but not after the page is gone.
    }
  }

  private readonly tell = (): void => {
    for (const listener of [...this.listeners]) {
      listener();
    }
  };

  private others: Set<string> = new Set<string>();
  private free: Set<string> = new Set<string>();
  private readonly listeners = new Set<() => void>();
}

/** What people read in the list of sessions: `photos, notes.txt to /raw/`. */
function labelOf(given: readonly IGivenFile[], folder: string): string {
  const tops = [...new Set(given.map(one => one.path.split('/')[0] ?? ''))];
  const [shown, more] = [tops.slice(0, 3), tops.length - 3];
  /* eslint-disable acai/untranslated -- the server keeps it, and the same upload is known by it */
  const rest = more > 0 ? ` and ${more} more` : '';
  return `${shown.join(', ')}${rest} to ${folder}`.slice(0, 500);
  /* eslint-enable acai/untranslated */
}
