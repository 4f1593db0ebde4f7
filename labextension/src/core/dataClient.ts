import type {
  IAliasPage,
  IComparison,
  ICreatedFileSet,
  IDamageVerdict,
  IEntryPage,
  IFileSet,
  IFileSetPage,
  IFindThings,
  IFoundPage,
  IKeyList,
  IRemovedFileSets,
  ISubjectKind,
  IVersionsPage,
  IFetchPage,
  IFileOrigin,
  IFolderPage,
  IMetadata,
  IRemoved,
  IRemovedFiles,
  IReportedFile,
  IThingChange,
  IVersionPage
} from '../contract';
import type { AcaiClient } from './client';

/** What the panel of data asks of the server about files, of the project that is the page's when it asks. */
export class DataClient {
  constructor(
    protected readonly client: AcaiClient,
    readonly project: () => string
  ) {}

  /** What stands in a folder, of a file set if one is named. */
  folder(path: string, after: string, fileSet = ''): Promise<IFolderPage> {
    const words = { path, after, limit: '1000' };
    return this.get(
      'folder',
      fileSet === '' ? words : { ...words, file_set: fileSet }
    );
  }

  /** The versions of a file below a number, the newest first. */
  versions(spec: string, before: number | null): Promise<IVersionPage> {
    const words = { path: spec, limit: '20' };
    return this.get(
      'versions',
      before === null ? words : { ...words, before: String(before) }
    );
  }

  /** Where a file version is from. */
  origin(spec: string): Promise<IFileOrigin> {
    return this.get('origin', { spec });
  }

  /** Where the bytes are of what a spec names: one file version, unless more are asked for. */
  fetch(spec: string, after = '', limit = 1): Promise<IFetchPage> {
    return this.post('files/fetch', { spec, after, limit });
  }

  /** Have the server look into files that could not be read. */
  reportDamage(files: readonly IReportedFile[]): Promise<IDamageVerdict> {
    return this.post('files/damage', { files });
  }

  /** The file versions that a spec names, of a folder all below it. */
  files(spec: string, after: string): Promise<IEntryPage> {
    return this.get('files', { spec, after });
  }

  /** Deletes a version, or all versions, of a file; or brings them back. */
  removeFiles(spec: string, undo: boolean): Promise<IRemoved> {
    return this.post('files/remove', { spec, undo });
  }

  /** The same with many at once; what cannot be deleted stays. */
  removeMany(specs: readonly string[], undo: boolean): Promise<IRemovedFiles> {
    return this.post('files/remove-many', { specs, undo });
  }

  metadata(thing: string): Promise<IMetadata> {
    return this.get('metadata', { thing });
  }

  change(change: IThingChange): Promise<unknown> {
    return this.post('metadata', { changes: [change] });
  }

  compare(before: string, after: string, start: number): Promise<IComparison> {
    return this.post('compare', {
      before: [before],
      after: [after],
      start,
      limit: 500
    });
  }

  /** File sets by name, the newest version of each. */
  sets(after: string): Promise<IFileSetPage> {
    return this.get('filesets', { after, limit: '100' });
  }

  setVersions(name: string, before: number | null): Promise<IVersionsPage> {
    const words = { limit: '20' };
    return this.get(
      `filesets/${encodeURIComponent(name)}/versions`,
      before === null ? words : { ...words, before: String(before) }
    );
  }

  /** Makes the next version of a set, or no new one where the newest holds the same. */
  createSet(name: string, sources: string[]): Promise<ICreatedFileSet> {
    return this.post('filesets', { name, sources, if_changed: true });
  }

  /** Writes a note in the place of another; of a third, the server says that it is there. */
  setNote(ref: string, note: string, expect: string): Promise<IFileSet> {
    const path = `filesets/${encodeURIComponent(ref)}`;
    return this.send('PATCH', path, { note, expect });
  }

  removeSet(ref: string, undo: boolean): Promise<IRemovedFileSets> {
    return this.post(`filesets/${encodeURIComponent(ref)}/remove`, { undo });
  }

  /** Lets an alias stand for a version. */
  setAlias(ref: string, alias: string): Promise<IFileSet> {
    return this.send('PUT', this.aliasPath(ref, alias), {});
  }

  removeAlias(name: string, alias: string): Promise<IAliasPage> {
    return this.send('DELETE', this.aliasPath(name, alias), {});
  }

  find(request: IFindThings): Promise<IFoundPage> {
    return this.post('find', request);
  }

  /** Keys of a kind of things that begin so. */
  keys(kind: ISubjectKind, prefix: string): Promise<IKeyList> {
    return this.get('metadata/keys', { kind, prefix, limit: '20' });
  }

  private aliasPath(ref: string, alias: string): string {
    return `filesets/${encodeURIComponent(ref)}/aliases/${encodeURIComponent(alias)}`;
  }

  protected get<T>(
    path: string,
    words: { [name: string]: string } = {}
  ): Promise<T> {
    const query = new URLSearchParams(words).toString();
    return this.client.request(
      `${this.base}/${path}${query === '' ? '' : `?${query}`}`
    );
  }

  protected post<T>(path: string, body: object): Promise<T> {
    return this.send('POST', path, body);
  }

  protected send<T>(method: string, path: string, body: object): Promise<T> {
    return this.client.request(`${this.base}/${path}`, {
      method,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body)
    });
  }

  private get base(): string {
    return `v1/projects/${encodeURIComponent(this.project())}`;
  }
}
