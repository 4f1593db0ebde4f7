import type { IChild, IFolderPage } from '../contract';
import { asAcaiError } from './connectionStore';
import type { AcaiError } from './errors';
import { isRefusal } from './pagedList';
import { folderOf } from './specText';

/** A row of a tree that is open in places. */
export interface ITreeRow {
  /** Of a folder it ends in `/`. */
  path: string;
  name: string;
  depth: number;
  /** Null is a row that stands for what follows, and is read when it is seen. */
  child: IChild | null;
  isOpen: boolean;
  /** It was asked for, and there was no answer: it is asked for again when somebody wants that. */
  isRefused: boolean;
}

/** Where code and variables of jobs are kept: whoever wants them finds them by their job. */
const OF_THE_SYSTEM = new Set(['.code', '.variables']);

interface IFolder {
  children: IChild[];
  next: string | null;
  isRead: boolean;
}

function depthOf(path: string): number {
  return path.split('/').length;
}

/** Asks for a page of what stands in a folder, after a name. */
export type ReadFolder = (path: string, after: string) => Promise<IFolderPage>;

/** Folders and files, of which only open folders are read, and of those only pages that somebody scrolled to. */
export class FileTree {
  constructor(private readonly read: ReadFolder) {}

  get rows(): readonly ITreeRow[] {
    this.flat ??= this.flatten('/', 0);
    return this.flat;
  }

  /** Why the last question was not answered. */
  get error(): AcaiError | null {
    return this._error;
  }

  /** The first answer is not there yet. */
  get isEmpty(): boolean {
    return this.folders.get('/')?.isRead !== true;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  async open(path: string): Promise<void> {
    this.opened.add(path);
    this.refused.delete(path);
    this.tell();
    if (this.folders.get(path)?.isRead !== true) {
      await this.readPage(path);
    }
  }

  close(path: string): void {
    this.opened.delete(path);
    this.tell();
  }

  /** Open a folder and all above it. */
  async reveal(path: string): Promise<void> {
    const parts = path.split('/').slice(1, -1);
    let folder = '/';
    await this.open(folder);
    for (const part of parts) {
      folder = `${folder}${part}/`;
      await this.open(folder);
    }
  }

  /** Rows from one to another can be seen: what follows there is read, unless that was refused before. */
  want(first: number, last: number): void {
    for (const row of this.rows.slice(first, last + 1)) {
      if (row.child === null && !row.isRefused) {
        void this.readPage(row.path);
      }
    }
  }

  /** Ask once more for what follows in a folder. */
  async askAgain(path: string): Promise<void> {
    this.refused.delete(path);
    const reading = this.readPage(path);
    this.tell();
    await reading;
  }

  /** Read what is open anew, as far as it was read; a folder that is gone from the one above it is asked for no more. */
  async refresh(): Promise<void> {
    this.refused.clear();
    const depths = [...this.opened].map(depthOf);
    for (const depth of [...new Set(depths)].sort((a, b) => a - b)) {
      const level = [...this.opened].filter(path => depthOf(path) === depth);
      await Promise.all(
        level.map(async path => {
          if (this.isThere(path)) {
            const reached = this.folders.get(path)?.children.length ?? 0;
            await this.readAgain(path, reached);
          } else {
            this.opened.delete(path);
            this.folders.delete(path);
          }
        })
      );
    }
    this.tell();
  }

  /** Ask for what is not there yet: not while that is under way, nor again after it was refused. */
  ask(): Promise<void> {
    const isOpen = this.isEmpty || this.error !== null;
    if (isOpen && !this.isRefused) {
      this.asking ??= this.refresh().finally(() => {
        this.asking = null;
      });
    }
    return this.asking ?? Promise.resolve();
  }

  /** Somebody wants to ask again in spite of what was said. */
  insist(): void {
    this.isRefused = false;
  }

  private isThere(path: string): boolean {
    const above = folderOf(path);
    const known = this.folders.get(above);
    if (path === '/' || known === undefined) {
      return this.opened.has(above) || path === '/';
    }
    const isNamed = known.children.some(
      one => one.kind === 'folder' && `${above}${one.name}/` === path
    );
    return isNamed || known.next !== null;
  }

  private async readAgain(path: string, reached: number): Promise<void> {
    const children: IChild[] = [];
    let next: string | null = '';
    await this.attempt(async () => {
      while (next !== null) {
        const page: IFolderPage = await this.read(path, next);
        children.push(...page.children);
        next = page.next ?? null;
        if (children.length >= reached) {
          break;
        }
      }
      this.folders.set(path, { children, next, isRead: true });
    });
    this.tell();
  }

  private async readPage(path: string): Promise<void> {
    if (this.asked.has(path)) {
      return;
    }
    this.asked.add(path);
    const isRead = await this.attempt(async () => {
      const known = this.folders.get(path);
      const page = await this.read(path, known?.next ?? '');
      this.folders.set(path, {
        children: [...(known?.children ?? []), ...page.children],
        next: page.next ?? null,
        isRead: true
      });
    });
    this.asked.delete(path);
    if (!isRead) {
      this.refused.add(path);
    }
    this.tell();
  }

  private async attempt(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      this._error = null;
    } catch (error) {
      this._error = asAcaiError(error);
    }
    this.isRefused = isRefusal(this._error);
    return this._error === null;
  }

  private flatten(folder: string, depth: number): ITreeRow[] {
    const known = this.folders.get(folder);
    const rows: ITreeRow[] = [];
    for (const child of known?.children ?? []) {
      if (folder === '/' && OF_THE_SYSTEM.has(child.name)) {
        continue;
      }
      const isFolder = child.kind === 'folder';
      const path = `${folder}${child.name}${isFolder ? '/' : ''}`;
      const isOpen = isFolder && this.opened.has(path);
      const isRefused = false;
      rows.push({ path, name: child.name, depth, child, isOpen, isRefused });
      if (isOpen) {
        rows.push(...this.flatten(path, depth + 1));
      }
    }
    const hasMore = known === undefined ? depth > 0 : known.next !== null;
    if (hasMore) {
      rows.push({
        path: folder,
        name: '',
        depth,
        child: null,
        isOpen: false,
        isRefused: this.refused.has(folder)
      });
    }
    return rows;
  }

  private tell(): void {
    this.flat = null;
    for (const listener of [...this.listeners]) {
      listener();
    }
  }

  private readonly folders = new Map<string, IFolder>();
  private readonly opened = new Set<string>(['/']);
  private readonly asked = new Set<string>();
  private readonly refused = new Set<string>();
  private readonly listeners = new Set<() => void>();
  private isRefused = false;
  private asking: Promise<void> | null = null;
  private flat: ITreeRow[] | null = null;
  private _error: AcaiError | null = null;
}
