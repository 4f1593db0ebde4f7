import type { CommandRegistry } from '@lumino/commands';

import { projectOf } from '../connection/project';
import { DataClient } from '../core/dataClient';
import { ObjectClient } from '../core/objectClient';
import { PreviewReader } from '../core/previews';
import { UPLOADS_KEY, UploadList } from '../core/uploadList';
import { UploadLocks } from '../core/uploadLocks';
import type { IAcaiConnection } from '../tokens';

/** What all parts of this area share; made when one of them is first shown. */
export class DataServices {
  constructor(
    readonly connection: IAcaiConnection,
    readonly commands: CommandRegistry
  ) {
    this.client = new DataClient(connection.client, () =>
      projectOf(connection)
    );
    this.objects = new ObjectClient(connection.client);
    this.uploads = new UploadList(
      connection.client,
      this.objects,
      window.localStorage,
      () => projectOf(connection),
      new UploadLocks((navigator as Partial<Navigator>).locks)
    );
    window.addEventListener('storage', ({ key }) => {
      if (key === UPLOADS_KEY) {
        void this.uploads.look();
      }
    });
    window.addEventListener('beforeunload', event => {
      if (this.uploads.isSending) {
        event.preventDefault();
      }
    });
  }

  readonly client: DataClient;
  readonly objects: ObjectClient;
  readonly uploads: UploadList;

  /** A reader of what stands in a project, the page's own or another. */
  readerOf(project: string): PreviewReader {
    const client = new DataClient(this.connection.client, () => project);
    return new PreviewReader(client, this.objects);
  }
}
