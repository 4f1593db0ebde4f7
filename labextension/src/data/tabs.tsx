import { MainAreaWidget } from '@jupyterlab/apputils';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import * as React from 'react';

import { COMPARE_VERSIONS, OPEN_FILE_VERSION, OPEN_JOB } from '../commandIds';
import { placeTab } from '../connection/projectTab';
import type { IEvent } from '../contract';
import { asAcaiError, hears } from '../core/connectionStore';
import { FileVersions } from '../core/fileVersions';
import { Refresher } from '../core/refresher';
import { fileSpec, nameOf } from '../core/specText';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { dataIcon } from '../panel/icon';
import { About } from './about';
import { DiffView } from './diffView';
import { downloadVersion } from './downloading';
import { FileView } from './fileView';
import type { DataServices, TabServices } from './services';

/** Content of a tab that follows what happens to files and sets, while it is seen. */
export abstract class FollowingContent extends ReactWidget {
  constructor(protected readonly services: DataServices) {
    super();
    this.addClass('jp-AcaiView');
    this.addClass('jp-AcaiData');
    const { connection } = services;
    connection.eventReceived.connect(this.hear);
    connection.reloadNeeded.connect(this.doubt);
    connection.stateChanged.connect(this.followState);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      const { connection } = this.services;
      connection.eventReceived.disconnect(this.hear);
      connection.reloadNeeded.disconnect(this.doubt);
      connection.stateChanged.disconnect(this.followState);
      this.refresher.dispose();
      super.dispose();
    }
  }

  /** Read anew what is shown. */
  protected abstract refresh(): Promise<void>;

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.refresher.setSeen(this.isVisible);
    this.again();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.refresher.setSeen(true);
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this.refresher.setSeen(false);
  }

  /** Ask for what is shown, also when the server was away. */
  protected readonly again = (): void => {
    void this.services.connection.connect().then(() => this.readAgain());
  };

  /** Raised each time that something was read anew. */
  protected stamp = 0;

  private readonly hear = (_: unknown, event: IEvent): void => {
    if (/^(?:file|alias|metadata)/.test(event.kind)) {
      this.doubt();
    }
  };

  private readonly doubt = (): void => {
    this.refresher.doubt();
  };

  /** Whoever was away may have missed something, and what was asked meanwhile has no answer. */
  private readonly followState = (): void => {
    const isHeard = hears(this.services.connection.state);
    if (isHeard && !this.wasHeard) {
      this.doubt();
    }
    this.wasHeard = isHeard;
  };

  private async readAgain(): Promise<void> {
    await this.refresh();
    this.stamp += 1;
    this.update();
  }

  private wasHeard = false;
  private readonly refresher = new Refresher(() => this.readAgain());
}

/** One file in the main area. */
export class FileTab extends MainAreaWidget<FileContent> {
  static idOf(path: string, project: string): string {
    return `acai-file-${path}@${project}`;
  }

  constructor(path: string, services: TabServices) {
    super({ content: new FileContent(path, services) });
    this.title.icon = dataIcon;
    placeTab(
      this,
      services.connection,
      trans.__('%1 · versions', oneLine(nameOf(path)))
    );
    this.title.caption = oneLine(path);
    this.title.closable = true;
  }
}

class FileContent extends FollowingContent {
  constructor(path: string, services: DataServices) {
    super(services);
    this.file = new FileVersions(services.client, path);
  }

  protected override refresh(): Promise<void> {
    return this.file.refresh();
  }

  protected override render(): React.ReactElement {
    const { file, services } = this;
    const { client } = services;
    const { path } = file;
    return (
      <FileView
        file={file}
        failure={this.failure}
        onAgain={this.again}
        onOpen={version =>
          void services.run(OPEN_FILE_VERSION, { path, version })
        }
        onDownload={version => void downloadVersion(services, path, version)}
        onRemove={(version, undo) => void this.remove(version, undo)}
        onCompare={(before, after) =>
          void services.run(COMPARE_VERSIONS, {
            path,
            before,
            after
          })
        }
        onOpenJob={job => void services.run(OPEN_JOB, { job })}
        about={version => (
          <About
            thing={fileSpec(path, version)}
            client={client}
            stamp={this.stamp}
          />
        )}
      />
    );
  }

  private async remove(version: number, undo: boolean): Promise<void> {
    const { file, services } = this;
    try {
      await services.client.removeFiles(fileSpec(file.path, version), undo);
      this.failure = '';
      await file.refresh();
    } catch (error) {
      this.failure = asAcaiError(error).message;
    }
    this.update();
  }

  private readonly file: FileVersions;
  private failure = '';
}

/** Content that is read once, and again only where there was no answer, which its view sees by the stamp. */
export class ComparedContent extends FollowingContent {
  constructor(
    services: DataServices,
    private readonly draw: (
      stamp: number,
      again: () => void
    ) => React.ReactElement
  ) {
    super(services);
  }

  protected override refresh(): Promise<void> {
    return Promise.resolve();
  }

  protected override render(): React.ReactElement {
    return this.draw(this.stamp, this.again);
  }
}

/** Two versions of a file beside each other. */
export class DiffTab extends MainAreaWidget {
  static idOf(
    path: string,
    before: number,
    after: number,
    project: string
  ): string {
    return `acai-diff-${path}-${before}-${after}@${project}`;
  }

  constructor(
    path: string,
    before: number,
    after: number,
    project: string,
    services: TabServices
  ) {
    const reader = services.readerOf(project);
    const content = new ComparedContent(services, (stamp, again) => (
      <DiffView
        project={project}
        path={path}
        before={before}
        after={after}
        reader={reader}
        stamp={stamp}
        onAgain={again}
      />
    ));
    super({ content });
    this.title.icon = dataIcon;
    this.title.closable = true;
    const name = oneLine(nameOf(path));
    placeTab(this, services.connection, `${name} ${before} → ${after}`);
  }
}
