import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';

import { projectOf } from '../connection/project';
import { DataClient } from '../core/dataClient';
import { ObjectClient } from '../core/objectClient';
import { PreviewReader } from '../core/previews';
import { UPLOADS_KEY, UploadList } from '../core/uploadList';
import { UploadLocks } from '../core/uploadLocks';
import type { IAcaiConnection, IProjectConnection } from '../tokens';

/** What a part of this area needs. */
export class DataServices {
  constructor(
    readonly connection: IProjectConnection,
    private readonly registry: CommandRegistry,
    readonly objects: ObjectClient
  ) {
    this.client = new DataClient(connection.client, () =>
      projectOf(connection)
    );
  }

  readonly client: DataClient;

  has(command: string): boolean {
    return this.registry.hasCommand(command);
  }

  /** Run a command of ours on something of the same project. */
  async run(command: string, args: ReadonlyPartialJSONObject): Promise<void> {
    const project = projectOf(this.connection);
    await this.registry.execute(command, { project, ...args });
  }

  /** Of a project, the own one or another. */
  clientOf(project: string): DataClient {
    return new DataClient(this.connection.client, () => project);
  }

  /** A reader of what stands in a project. */
  readerOf(project: string): PreviewReader {
    return new PreviewReader(this.clientOf(project), this.objects);
  }
}

/** What a tab needs, to which its connection belongs. */
export class TabServices extends DataServices {
  constructor(
    override readonly connection: IProjectConnection & IDisposable,
    registry: CommandRegistry,
    objects: ObjectClient
  ) {
    super(connection, registry, objects);
  }
}

/** What the sidebar needs, and tabs are made from; made when a part of this area is first shown. */
export class PageServices extends DataServices {
  constructor(
    override readonly connection: IAcaiConnection,
    private readonly commands: CommandRegistry
  ) {
    super(connection, commands, new ObjectClient(connection.client));
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

  readonly uploads: UploadList;

  inProject(project: string): TabServices {
    const connection = this.connection.inProject(project);
    return new TabServices(connection, this.commands, this.objects);
  }
}
