import { MainAreaWidget } from '@jupyterlab/apputils';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import * as React from 'react';

import type { IEvent } from '../contract';
import { projectOf, projectToName } from '../connection/project';
import { GraphExplorer, type IGraphPlace } from '../core/graphExplorer';
import { GraphClient } from '../core/graphClient';
import type { IFollowing } from '../core/eventStreams';
import { Refresher } from '../core/refresher';
import { trans } from '../core/translation';
import { AwayNote } from '../panel/awayNote';
import { acaiIcon } from '../panel/icon';
import type { IAcaiConnection } from '../tokens';
import { ExplorerView } from './explorerView';

export interface IProvenanceTabProps {
  connection: IAcaiConnection;
  onOpenJob: (job: number, project: string) => void;
  onOpenSet: (ref: string, project: string) => void;
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
    this.title.label = trans.__('Provenance');
    this.title.closable = true;
    this.contentHeader.addWidget(new AwayNote(props.connection));
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
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.following?.dispose();
      this.unsubscribe();
      this.refresher.dispose();
      super.dispose();
    }
  }

  /** What is in the middle now. */
  get place(): IGraphPlace {
    return this.explorer.place;
  }

  /** Without a thing it is the whole project. */
  async showAround(spec: string, project: string): Promise<void> {
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
        ask={{
          affected: ref => client.affected(ref, explorer.place.project),
          difference: (before, after) =>
            client.difference(before, after, explorer.place.project)
        }}
        onAgain={() => {
          void this.props.connection.connect().then(() => explorer.askAgain());
        }}
        onOpenJob={job => {
          onOpenJob(job, explorer.place.project);
        }}
        onOpenSet={ref => {
          onOpenSet(ref, explorer.place.project);
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

  private readonly follow = (): void => {
    const { focus, project } = this.explorer.place;
    const place = `${project}/${focus}`;
    if (place !== this.lastPlace) {
      this.lastPlace = place;
      this.props.onMove();
    }
    if (project !== this.followed) {
      this.followed = project;
      this.listen(project);
    }
  };

  /** Hear what happens in the project that is drawn, which need not be the chosen one. */
  private listen(project: string): void {
    this.following?.dispose();
    this.following = this.props.connection.follow(project, {
      onEvent: this.hear,
      onReload: this.doubt
    });
    this.node.dataset.acaiProject = project;
    const name = projectToName(this.props.connection, project);
    this.title.label =
      name === '' ? trans.__('Provenance') : trans.__('Provenance · %1', name);
  }

  /** Sets that are made, and jobs that begin and end, are nodes of the graph. */
  private readonly hear = (event: IEvent): void => {
    const { kind } = event;
    const isProgress = kind === 'job_progressed';
    if (!isProgress && /^(?:file_set|job)_/.test(kind)) {
      this.doubt();
    }
  };

  private readonly doubt = (): void => {
    this.refresher.doubt();
  };

  private lastPlace = '';
  private followed = '';
  private following: IFollowing | null = null;
  private readonly unsubscribe: () => void;
  private readonly refresher = new Refresher(() => this.explorer.refresh());
  private readonly client: GraphClient;
  private readonly explorer: GraphExplorer;
}
