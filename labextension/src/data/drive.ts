import type { Contents, ServerConnection } from '@jupyterlab/services';
import { type ISignal, Signal } from '@lumino/signaling';

import { trans } from '../core/translation';

/** What is needed of JupyterLab's contents to show something: the model of one version of a file. */
export type ReadModel = (
  path: string,
  options: Contents.IFetchOptions
) => Promise<Contents.IModel>;

/** Where a page can show a version in place, as a picture in a notebook. */
export type FindUrl = (path: string) => Promise<string>;

export const DRIVE = 'acai';

/** Versions of files as documents that can be read: they never change, so whatever would change one is refused. */
export class VersionsDrive implements Contents.IDrive {
  constructor(
    readonly serverSettings: ServerConnection.ISettings,
    private readonly read: ReadModel,
    private readonly find: FindUrl
  ) {}

  readonly name = DRIVE;
  readonly fileChanged: ISignal<this, Contents.IChangedArgs> = new Signal(this);

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    Signal.clearData(this);
  }

  get(
    path: string,
    options: Contents.IFetchOptions = {}
  ): Promise<Contents.IModel> {
    return this.read(path, options);
  }

  getDownloadUrl(path: string): Promise<string> {
    return this.find(path);
  }

  newUntitled(): Promise<Contents.IModel> {
    return refusal(
      trans.__('A version of a file cannot be added to like a folder.')
    );
  }

  delete(): Promise<void> {
    return refusal(
      trans.__(
        'A version of a file cannot be deleted from here; the file’s tab in ACAI does that.'
      )
    );
  }

  rename(): Promise<Contents.IModel> {
    return refusal(trans.__('A version of a file cannot be renamed.'));
  }

  save(): Promise<Contents.IModel> {
    return refusal(
      trans.__(
        'A version of a file cannot be changed. Save it under another name.'
      )
    );
  }

  copy(): Promise<Contents.IModel> {
    return refusal(trans.__('A version of a file cannot be copied from here.'));
  }

  createCheckpoint(): Promise<Contents.ICheckpointModel> {
    return refusal(trans.__('A version of a file cannot be changed.'));
  }

  listCheckpoints(): Promise<Contents.ICheckpointModel[]> {
    return Promise.resolve([]);
  }

  restoreCheckpoint(): Promise<void> {
    return refusal(trans.__('A version of a file cannot be changed.'));
  }

  deleteCheckpoint(): Promise<void> {
    return refusal(trans.__('A version of a file cannot be changed.'));
  }

  private _isDisposed = false;
}

function refusal(sentence: string): Promise<never> {
  return Promise.reject(new Error(sentence));
}
