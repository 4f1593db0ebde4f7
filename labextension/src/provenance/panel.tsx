import { MainAreaWidget } from '@jupyterlab/apputils';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import * as React from 'react';

import type { CommandRegistry } from '@lumino/commands';
import type { IEvent } from '../contract';
import { projectOf, projectToName } from '../connection/project';
import { OPEN_JOB, OPEN_SET } from '../commandIds';
import { GraphExplorer } from '../core/graphExplorer';
import { GraphClient } from '../core/graphClient';
import { type IVisit, keptVisits } from '../core/graphPlaces';
import type { IFollowing } from '../core/eventStreams';
import { Refresher } from '../core/refresher';
import { trans } from '../core/translation';
import { AwayNote } from '../panel/awayNote';
import { acaiIcon } from '../panel/icon';
import type { IAcaiConnection } from '../tokens';
import { ExplorerView } from './explorerView';

export interface IProvenanceTabProps {
  connection: IAcaiConnection;
  commands: CommandRegistry;
  /** Something else is looked at now. */
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
      -60 * new Date().getTimezoneOffset(),
      () => projectOf(connection)
    );
    connection.stateChanged.connect(this.onState);
    this.unsubscribe = this.explorer.subscribe(this.follow);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.props.connection.stateChanged.disconnect(this.onState);
      this.following?.dispose();
      this.unsubscribe();
      this.refresher.dispose();
      super.dispose();
    }
  }

  /** Where somebody has been, and is. */
  get visits(): readonly IVisit[] {
    const { visits } = this.explorer;
    return visits.length > 0 ? visits : this.wanted;
  }

  /** Without a thing it is the whole project. */
  async showAround(spec: string, project: string): Promise<void> {
    await this.props.connection.connect();
    await this.explorer.show(spec, project);
  }

  /** Go on as it was before the page was loaded. */
  async restore(visits: readonly IVisit[]): Promise<void> {
    this.wanted = visits;
    await this.props.connection.connect();
    await this.explorer.restore(visits);
  }

  protected override render(): React.ReactElement {
    const { explorer, client } = this;
    const { commands } = this.props;
    const opening = <T,>(command: string, argsOf: (thing: T) => object) =>
      commands.hasCommand(command)
        ? (thing: T) => {
            const { project } = explorer.place;
            void commands.execute(command, { ...argsOf(thing), project });
          }
        : null;
    return (
      <ExplorerView
        explorer={explorer}
        onExport={(format, ref) => {
          const { project } = explorer.place;
          return ref === ''
            ? client.wholeProject(project)
            : client.lineage(ref, format, project);
        }}
        ask={{
          affected: ref => client.affected(ref, explorer.place.project),
          difference: (before, after) =>
            client.difference(before, after, explorer.place.project)
        }}
        onAgain={() => {
          void this.props.connection.connect().then(() => explorer.askAgain());
        }}
        onOpenJob={opening(OPEN_JOB, (job: number) => ({ job }))}
        onOpenSet={opening(OPEN_SET, setNamed)}
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
    const { visits } = this.explorer;
    const kept = JSON.stringify(keptVisits(visits));
    if (kept !== this.kept) {
      this.kept = kept;
      this.props.onMove();
    }
    this.listen();
  };

  /** What was asked for before anybody knew in which project is asked for there. */
  private readonly onState = (): void => {
    if (this.listen()) {
      this.doubt();
    }
  };

  /** Hear what happens in the project that is drawn, which need not be the chosen one; true where that is another one now. */
  private listen(): boolean {
    const { connection } = this.props;
    const place = this.explorer.visits.at(-1)?.place;
    const project = place && (place.project || projectOf(connection));
    if (!project || project === this.followed) {
      return false;
    }
    this.followed = project;
    this.following?.dispose();
    this.following = connection.follow(project, {
      onEvent: this.hear,
      onReload: this.doubt
    });
    this.node.dataset.acaiProject = project;
    const name = projectToName(connection, project);
    this.title.label =
      name === '' ? trans.__('Provenance') : trans.__('Provenance · %1', name);
    return true;
  }

  /** Sets that are made, and jobs that begin and end, are nodes of the graph; by what stands on them it is filtered. */
  private readonly hear = (event: IEvent): void => {
    const { kind } = event;
    const isProgress = kind === 'job_progressed';
    if (!isProgress && /^(?:file_sets?|job|alias|metadata)_/.test(kind)) {
      this.doubt();
    }
  };

  private readonly doubt = (): void => {
    this.refresher.doubt();
  };

  /** What was drawn before the page was loaded, so that a second reload finds it too. */
  private wanted: readonly IVisit[] = [];
  private kept = '';
  private followed = '';
  private following: IFollowing | null = null;
  private readonly unsubscribe: () => void;
  private readonly refresher = new Refresher(() => this.explorer.refresh());
  private readonly client: GraphClient;
  private readonly explorer: GraphExplorer;
}

function setNamed(ref: string): { name: string; version: number } {
  const [name = '', version] = ref.split(':');
  return { name, version: Number(version) };
}
