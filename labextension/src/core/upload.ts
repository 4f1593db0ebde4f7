import type {
  INewFile,
  IPackedBlob,
  ISentPart,
  IUploadResult
} from '../contract';
import { asAcaiError } from './connectionStore';
import { AcaiError } from './errors';
import type { ObjectClient } from './objectClient';
import { Sha256, sha256Of } from './sha256';
import { trans } from './translation';
import { patiently, type UploadClient } from './uploadClient';

/** From here on a file is sent by itself, in parts. */
export const LARGE_BYTES = 8 * 1024 ** 2;
/** Small files travel together, up to this size and number. */
const PACK_BYTES = 8 * 1024 ** 2;
const PACK_FILES = 500;
const PART_BYTES = 16 * 1024 ** 2;
const MOST_PARTS = 9_000;

/** A file to be uploaded, and the path it gets. */
export interface IGivenFile {
  path: string;
  file: Blob & { readonly lastModified?: number };
}

/** A large file on its way: which object it is, and which of its parts were sent from here. */
export interface IBegunFile {
  number: number;
  size: number;
  modified: number;
  etags: { [part: number]: string };
}

/** What is remembered of an upload, so that the same files can go on with it when the page was loaded anew. */
export interface IKeptUpload {
  id: string;
  project: string;
  folder: string;
  label: string;
  files: number;
  bytes: number;
  large: { [path: string]: IBegunFile };
}

export interface IUploadMemory {
  /** Make a session this page's until it is forgotten; false where another page has it. */
  take(id: string): Promise<boolean>;
  keep(upload: IKeptUpload): void;
  forget(id: string): void;
}

export type UploadPhase = 'sending' | 'done' | 'failed' | 'stopped';

/** Files on their way: hashed here, staged in pages, sent to the store in packs or parts, and then committed at once. */
export class Upload {
  private static last = 0;

  constructor(
    private readonly server: UploadClient,
    private readonly objects: ObjectClient,
    private readonly memory: IUploadMemory,
    readonly kept: IKeptUpload,
    private readonly given: readonly IGivenFile[]
  ) {}

  /** Of the uploads of a page each has another: the same files can be sent twice. */
  readonly number = (Upload.last += 1);
  phase: UploadPhase = 'sending';
  error: AcaiError | null = null;
  result: IUploadResult | null = null;
  doneFiles = 0;
  doneBytes = 0;

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  /** Send what is not there yet. After a failure, again: what arrived is not sent twice. */
  async run(): Promise<void> {
    this.become('sending');
    [this.doneFiles, this.doneBytes] = [0, 0];
    try {
      await this.begin();
      await this.sendAll();
      this.result = await this.server.commit(this.kept.id);
      this.memory.forget(this.kept.id);
      this.become('done');
    } catch (error) {
      if (!this.stopping.signal.aborted) {
        this.error = asAcaiError(error);
        this.become('failed');
      }
    }
  }

  /** Give it up, on the server too. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.become('stopped');
    const { id } = this.kept;
    if (id !== '') {
      this.memory.forget(id);
      await this.server.abort(id);
    }
  }

  private async begin(): Promise<void> {
    const { kept } = this;
    if (kept.id !== '' && (await this.memory.take(kept.id))) {
      const found = await this.server.find(kept.id).catch(() => null);
      if (found?.state === 'pending') {
        await this.server.stage(kept.id, [], true);
        this.nextNumber = found.next_object ?? 1;
        return;
      }
      this.memory.forget(kept.id);
    }
    kept.large = {};
    const { label } = kept;
    const made = await this.server.create({ label, only_changed: true });
    await this.memory.take(made.id); // before other pages read of it
    kept.id = made.id;
    this.nextNumber = made.next_object ?? 1;
    this.memory.keep(kept);
  }

  private async sendAll(): Promise<void> {
    let pack: IGivenFile[] = [];
    let bytes = 0;
    for (const one of this.given) {
      this.stopping.signal.throwIfAborted();
      const { size } = one.file;
      if (size >= LARGE_BYTES) {
        await this.sendLarge(one);
        continue;
      }
      if (pack.length === PACK_FILES || bytes + size > PACK_BYTES) {
        await this.sendPack(pack);
        [pack, bytes] = [[], 0];
      }
      pack.push(one);
      bytes += size;
    }
    if (pack.length > 0) {
      await this.sendPack(pack);
    }
  }

  /** Small files, of which only those travel whose content the store does not have. */
  private async sendPack(pack: readonly IGivenFile[]): Promise<void> {
    const read = await Promise.all(
      pack.map(async ({ path, file }) => {
        const bytes = new Uint8Array(await file.arrayBuffer());
        const sha256 = await sha256Of(bytes);
        return { bytes, new: { path, size_bytes: bytes.length, sha256 } };
      })
    );
    const { id } = this.kept;
    const page = read.map(one => one.new);
    const { missing } = await this.server.stage(id, page, false);
    const blobs: IPackedBlob[] = [];
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    const hash = new Sha256();
    let size = 0;
    for (const at of missing) {
      const one = read[at];
      if (
        one !== undefined &&
        !blobs.some(blob => blob.sha256 === one.new.sha256)
      ) {
        const { sha256, size_bytes } = one.new;
        blobs.push({ sha256, offset: size, size_bytes });
        pieces.push(one.bytes);
        hash.update(one.bytes);
        size += size_bytes;
      }
    }
    if (blobs.length > 0) {
      const number = this.takeNumber();
      const sha256 = hash.hex();
      const wanted = { number, size_bytes: size, sha256 };
      const target = await this.server.target(id, wanted);
      await this.put(target.url ?? '', target.headers, new Blob(pieces));
      await this.server.arrived(id, { ...wanted, blobs });
    }
    this.count(page);
  }

  private async sendLarge(one: IGivenFile): Promise<void> {
    const { path, file } = one;
    const { id } = this.kept;
    const begun = this.begunOf(one);
    const { number } = begun;
    const { size } = file;
    const cut = Math.max(PART_BYTES, Math.ceil(size / MOST_PARTS));
    const target = await this.server.target(id, {
      number,
      size_bytes: size,
      part_bytes: cut
    });
    const hash = new Sha256();
    const parts: ISentPart[] = [];
    const there = new Map(target.parts?.map(part => [part.offset, part]));
    for (let at = 0; at < size; at += cut) {
      const piece = file.slice(at, at + cut);
      hash.update(new Uint8Array(await piece.arrayBuffer()));
      const part = there.get(at);
      if (part !== undefined) {
        const ours = begun.etags[part.number];
        const arrived = part.etag?.replaceAll('"', '');
        if (ours === undefined || arrived !== ours) {
          const etag = await this.put(part.url, part.headers, piece);
          if (etag === '') {
            throw hidden();
          }
          begun.etags[part.number] = etag;
          this.memory.keep(this.kept);
        }
        const etag = begun.etags[part.number] ?? '';
        parts.push({ number: part.number, etag });
      }
      this.doneBytes += piece.size;
      this.tell();
    }
    const sha256 = hash.hex();
    const page = [{ path, size_bytes: size, sha256 }];
    await this.server.stage(id, page, false);
    const blobs = [{ sha256, offset: 0, size_bytes: size }];
    const sent = { number, size_bytes: size, sha256, blobs, parts };
    await this.server.arrived(id, sent);
    this.doneFiles += 1;
    this.tell();
  }

  /** The object that a large file is, or was before the page was loaded anew. */
  private begunOf({ path, file }: IGivenFile): IBegunFile {
    const { large } = this.kept;
    const [size, modified] = [file.size, file.lastModified ?? 0];
    const known = large[path];
    if (known?.size === size && known.modified === modified) {
      return known;
    }
    const begun = { number: this.takeNumber(), size, modified, etags: {} };
    large[path] = begun;
    this.memory.keep(this.kept);
    return begun;
  }

  private put(
    url: string,
    headers: { [name: string]: string } | undefined,
    body: Blob
  ): Promise<string> {
    const { signal } = this.stopping;
    return patiently(() =>
      this.objects.write(url, headers ?? {}, body, signal)
    );
  }

  private takeNumber(): number {
    const taken = Object.values(this.kept.large).map(one => one.number);
    while (taken.includes(this.nextNumber)) {
      this.nextNumber += 1;
    }
    this.nextNumber += 1;
    return this.nextNumber - 1;
  }

  private count(page: readonly INewFile[]): void {
    this.doneFiles += page.length;
    this.doneBytes += page.reduce((sum, one) => sum + one.size_bytes, 0);
    this.tell();
  }

  private become(phase: UploadPhase): void {
    this.phase = phase;
    if (phase === 'sending') {
      this.error = null;
    }
    this.tell();
  }

  private tell(): void {
    for (const listener of [...this.listeners]) {
      listener();
    }
  }

  private readonly stopping = new AbortController();
  private readonly listeners = new Set<() => void>();
  private nextNumber = 1;
}

/** Without the marks nobody can say which parts make the file. */
function hidden(): AcaiError {
  return new AcaiError(
    'store_hides_marks',
    trans.__(
      'The store took a part of a file and does not let this page see its mark: the CORS rules of its bucket have to expose ETag. Notebooks and shells can upload it.'
    ),
    0
  );
}
