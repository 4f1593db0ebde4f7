import { MainAreaWidget } from '@jupyterlab/apputils';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { IDisposable } from '@lumino/disposable';
import * as React from 'react';

import { projectClient, projectOf, projectToName } from '../connection/project';
import { placeTab } from '../connection/projectTab';
import type { IEvent } from '../contract';
import { CodeFiles } from '../core/codeFile';
import { type IJobSnapshot, isAbout, type JobModel } from '../core/jobModel';
import { DataClient } from '../core/dataClient';
import { ObjectClient } from '../core/objectClient';
import { PreviewReader } from '../core/previews';
import type { ProjectClient } from '../core/projectClient';
import { trans } from '../core/translation';
import { acaiIcon } from '../panel/icon';
import type { IProjectConnection } from '../tokens';
import { useAnswer } from '../views/answer';
import { Fault } from '../views/fault';
import { useModel } from '../views/job/hooks';
import { type IJobViewProps, JobView, snapshotOf } from '../views/job/view';
import type { ViewServices } from '../views/services';
import { CodeChanges } from './codeChanges';
import { Sections } from './sections';

/** A job in a tab of the main area. */
export class JobTab extends MainAreaWidget<JobTabContent> {
  static idOf(job: number, project: string): string {
    return `acai-job-${job}@${project}`;
  }

  constructor(
    job: number,
    connection: IProjectConnection & IDisposable,
    services: ViewServices
  ) {
    super({ content: new JobTabContent(job, connection, services) });
    this.title.icon = acaiIcon;
    this.title.closable = true;
    placeTab(this, connection, trans.__('job %1', job));
  }

  showLine(line: number, attempt: number): void {
    this.content.showLine(line, attempt);
  }
}

/** A line of the log to be shown, of an attempt (0: the last); each time it is asked for anew. */
type LogTarget = IJobViewProps['target'];

class JobTabContent extends ReactWidget {
  constructor(
    private readonly job: number,
    private readonly connection: IProjectConnection,
    private readonly services: ViewServices
  ) {
    super();
    this.addClass('jp-AcaiView');
    this.addClass('jp-AcaiJobTab');
  }

  showLine(line: number, attempt: number): void {
    this.target = { line, attempt };
    this.update();
  }

  protected override render(): React.ReactElement {
    const { job, connection, services, target } = this;
    return (
      <Found
        job={job}
        connection={connection}
        services={services}
        target={target}
      />
    );
  }

  private target: LogTarget = undefined;
}

/** The job as it stands under a cell, and below it all else that is known of it. */
function Followed(props: {
  snapshot: IJobSnapshot;
  connection: IProjectConnection;
  services: ViewServices;
  target: LogTarget;
}): React.ReactElement | null {
  const { snapshot, connection, services, target } = props;
  const [model, setModel] = React.useState<JobModel | null>(null);
  React.useEffect(() => {
    const found = services.store.acquire(snapshot);
    const unlook = found.look();
    setModel(found);
    // The model hears no more when the job has ended, but people go on tagging it.
    const hear = (_: unknown, event: IEvent) => {
      if (event.kind !== 'job_progressed' && isAbout(event, snapshot.number)) {
        void found.refresh();
      }
    };
    const refresh = () => void found.refresh();
    connection.eventReceived.connect(hear);
    connection.reloadNeeded.connect(refresh);
    return () => {
      connection.eventReceived.disconnect(hear);
      connection.reloadNeeded.disconnect(refresh);
      unlook();
      services.store.release(snapshot);
    };
  }, [snapshot, connection, services]);
  const client = React.useMemo(() => projectClient(connection), [connection]);
  return model === null ? null : (
    <>
      <JobView
        model={model}
        snapshot={snapshot}
        services={services}
        target={target}
      />
      <Below
        model={model}
        client={client}
        connection={connection}
        services={services}
        project={snapshot.project}
      />
    </>
  );
}

function Below(props: {
  model: JobModel;
  client: ProjectClient;
  connection: IProjectConnection;
  services: ViewServices;
  project: string;
}): React.ReactElement {
  useModel(props.model);
  const open = props.services.openProvenance();
  const { connection, project } = props;
  const [data, reader, code] = React.useMemo(() => {
    const files = new DataClient(connection.client, () => project);
    const previews = new PreviewReader(
      files,
      new ObjectClient(connection.client)
    );
    return [files, previews, new CodeFiles(files, previews)];
  }, [connection, project]);
  return (
    <Sections
      model={props.model}
      client={props.client}
      project={projectToName(connection, project)}
      code={code}
      changes={
        <CodeChanges
          job={props.model.job}
          client={props.client}
          data={data}
          reader={reader}
        />
      }
      onOpen={job => {
        props.services.openJob(job, project);
      }}
      onProvenance={
        open === null
          ? null
          : spec => {
              open(spec, props.project);
            }
      }
    />
  );
}

/** The job, once the server has said which one it is; else why there is none, and a way to ask again. */
function Found(props: {
  job: number;
  connection: IProjectConnection;
  services: ViewServices;
  target: LogTarget;
}): React.ReactElement {
  const { job, connection, services, target } = props;
  const ask = React.useCallback(async () => {
    await connection.connect();
    const project = projectOf(connection);
    return snapshotOf(project, await services.jobs.job(project, job));
  }, [job, connection, services]);
  const { found, failure, tryAgain } = useAnswer<IJobSnapshot>(ask);
  if (found !== null) {
    return (
      <Followed
        snapshot={found}
        connection={connection}
        services={services}
        target={target}
      />
    );
  }
  return failure === '' ? (
    <p role="status">{trans.__('Asking…')}</p>
  ) : (
    <Fault words={failure} onAgain={tryAgain} />
  );
}
