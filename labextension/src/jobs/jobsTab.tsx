import { MainAreaWidget } from '@jupyterlab/apputils';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { IDisposable } from '@lumino/disposable';
import type { Message } from '@lumino/messaging';
import * as React from 'react';

import type { IEvent } from '../contract';
import { placeTab } from '../connection/projectTab';
import { hears } from '../core/connectionStore';
import { JobPages } from '../core/jobPages';
import type { ProjectClient } from '../core/projectClient';
import { trans } from '../core/translation';
import { acaiIcon } from '../panel/icon';
import type { IProjectConnection } from '../tokens';
import { JobsView } from './jobsView';

/** What the table does with what stands outside of it. */
export interface IJobsTabOptions {
  connection: IProjectConnection & IDisposable;
  client: ProjectClient;
  query: string;
  columns: readonly string[];
  onColumns: (columns: string[]) => void;
  onOpen: (job: number) => void;
  onCompare: (before: number, after: number) => void;
}

/** The table of jobs in the main area. */
export class JobsTab extends MainAreaWidget<JobsTabContent> {
  static idOf(project: string): string {
    return `acai-jobs@${project}`;
  }

  constructor(options: IJobsTabOptions) {
    super({ content: new JobsTabContent(options) });
    this.title.icon = acaiIcon;
    this.title.closable = true;
    placeTab(this, options.connection, trans.__('Jobs'));
  }

  /** List other jobs. */
  choose(query: string): void {
    void this.content.pages.choose({ query });
  }
}

class JobsTabContent extends ReactWidget {
  constructor(private readonly options: IJobsTabOptions) {
    super();
    this.addClass('jp-AcaiView');
    this.addClass('jp-AcaiJobsTab');
    const { client, connection, query, columns } = options;
    this.pages = new JobPages(
      {
        find: request => client.find(request),
        count: query => client.count({ kind: 'job', query, ...CLOCK })
      },
      { query, order: [], columns: [...columns] }
    );
    connection.eventReceived.connect(this.onEvent);
    connection.reloadNeeded.connect(this.onReload);
    connection.stateChanged.connect(this.onState);
  }

  readonly pages: JobPages;

  override dispose(): void {
    if (!this.isDisposed) {
      const { connection } = this.options;
      connection.eventReceived.disconnect(this.onEvent);
      connection.reloadNeeded.disconnect(this.onReload);
      connection.stateChanged.disconnect(this.onState);
      this.pages.dispose();
      super.dispose();
    }
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    void this.options.connection.connect();
    this.onState();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.onState();
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this.onState();
  }

  protected override render(): React.ReactElement {
    return (
      <JobsView pages={this.pages} connect={this.connect} {...this.options} />
    );
  }

  private readonly connect = (): Promise<void> =>
    this.options.connection.connect();

  private readonly onEvent = (_: IProjectConnection, event: IEvent): void => {
    this.pages.hear(event);
  };

  private readonly onReload = (): void => {
    this.pages.doubt();
  };

  /** Nothing is asked while nobody looks or nobody answers; after a gap all that is seen is asked again. */
  private readonly onState = (): void => {
    const { state } = this.options.connection;
    const isLive = hears(state);
    if (isLive && !this.wasLive) {
      this.pages.doubt();
    }
    this.wasLive = isLive;
    this.pages.setSeen(isLive && this.isVisible);
  };

  private wasLive = false;
}

const CLOCK = { utc_offset_seconds: -60 * new Date().getTimezoneOffset() };
