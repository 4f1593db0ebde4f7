import type { JupyterFrontEnd } from '@jupyterlab/application';

import type { IAcaiConnection } from '../tokens';
import type { Models } from './parts';
import type { PageServices } from './services';

/** What this area loads when it is first needed, once. */
export class Loaded {
  constructor(
    readonly app: JupyterFrontEnd,
    readonly connection: IAcaiConnection
  ) {}

  services(): Promise<PageServices> {
    this._services ??= import('./services').then(
      ({ PageServices }) => new PageServices(this.connection, this.app.commands)
    );
    return this._services;
  }

  models(): Promise<Models> {
    this._models ??= Promise.all([import('./parts'), this.services()]).then(
      ([{ Models }, services]) =>
        new Models(services, path => this.mimeOf(path))
    );
    return this._models;
  }

  /** As JupyterLab knows kinds of files, those of other extensions too. */
  private mimeOf(path: string): string {
    const [type] = this.app.docRegistry.getFileTypesForPath(path);
    return type?.mimeTypes[0] ?? 'text/plain';
  }

  private _services: Promise<PageServices> | null = null;
  private _models: Promise<Models> | null = null;
}
