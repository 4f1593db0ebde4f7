import { MainAreaWidget } from '@jupyterlab/apputils';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import * as React from 'react';

import type { IEvent } from '../contract';
import { projectOf } from '../connection/project';
import { GraphExplorer, type IGraphPlace } from '../core/graphExplorer';
import { GraphClient } from '../core/graphClient';
import { Refresher } from '../core/refresher';
import { acaiIcon } from '../panel/icon';
import type { IAcaiConnection } from '../tokens';
import { ExplorerView } from './explorerView';

export interface IProvenanceTabProps {
  connection: IAcaiConnection;
  onOpenJob: (job: number) => void;
  onOpenSet: (ref: string) => void;
  /** Something else is in the middle now. */
  onMove: () => void;
}

/** A tab with the graph of provenance: of the whole project, or around one thing at a time. */
export class ProvenancePanel extends MainAreaWidget<ProvenanceContent> {
  static readonly id = 'acai-provenance';

  constructor(props: IProvenanceTabProps) {
    super({ content: new ProvenanceContent(props) });
    this.id = ProvenancePanel.id;
    this.title.icon = acaiIcon;
    this.title.label = 'Provenance';
    this.title.closable = true;
  }
}

export class ProvenanceContent extends ReactWidget {
  constructor(private readonly props: IProvenanceTabProps) {
    super();
    this.addClass('jp-AcaiView');
    this.addClass('jp-AcaiProvenance');
    const { connection } = props;
    this.client = new GraphClient(connection.client, () =>
      projectOf(connection)
    );
    this.explorer = new GraphExplorer(
      this.client,
      -60 * new Date().getTimezoneOffset()
    );
    this.unsubscribe = this.explorer.subscribe(this.follow);
    connection.eventReceived.connect(this.hear);
    connection.reloadNeeded.connect(this.doubt);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      const { connection } = this.props;
      connection.eventReceived.disconnect(this.hear);
      connection.reloadNeeded.disconnect(this.doubt);
      this.unsubscribe();
      this.refresher.dispose();
      super.dispose();
    }
  }

  /** What is in the middle now. */
  get place(): IGraphPlace {
    return this.explorer.place;
  }

  /** Without a thing it is the whole project, without a project one of the page's own. */
  async showAround(spec: string, project = ''): Promise<void> {
    await this.props.connection.connect();
    await this.explorer.show(spec, project);
  }

  protected override render(): React.ReactElement {
    const { explorer, client } = this;
    const { onOpenJob, onOpenSet } = this.props;
    return (
      <ExplorerView
        explorer={explorer}
        onExport={format => {
          const { focus, project } = explorer.place;
          return client.lineage(focus, format, project);
        }}
        onOpenJob={job => {
          // A tab shows jobs of the page's own project.
          if (this.isOwn) {
            onOpenJob(job);
          }
        }}
        onOpenSet={ref => {
          if (this.isOwn) {
            onOpenSet(ref);
          }
        }}
      />
    );
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.refresher.setSeen(true);
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this.refresher.setSeen(false);
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.refresher.setSeen(this.isVisible);
  }

  private get isOwn(): boolean {
    const { project } = this.explorer.place;
    return project === '' || project === projectOf(this.props.connection);
  }

  private readonly follow = (): void => {
    const { focus, project } = this.explorer.place;
    const place = `${project}/${focus}`;
    if (place !== this.lastPlace) {
      this.lastPlace = place;
      this.props.onMove();
    }
  };

  /** Sets that are made, and jobs that begin and end, are nodes of the graph. */
  private readonly hear = (_: unknown, event: IEvent): void => {
    const { kind } = event;
    const isProgress = kind === 'job_progressed';
    if (this.isOwn && !isProgress && /^(?:file_set|job)_/.test(kind)) {
      this.doubt();
    }
  };

  private readonly doubt = (): void => {
    this.refresher.doubt();
  };

  private lastPlace = '';
  private readonly unsubscribe: () => void;
  private readonly refresher = new Refresher(() => this.explorer.refresh());
  private readonly client: GraphClient;
  private readonly explorer: GraphExplorer;
}
