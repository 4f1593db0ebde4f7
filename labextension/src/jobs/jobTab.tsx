import { MainAreaWidget } from '@jupyterlab/apputils';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import { projectClient, projectOf } from '../connection/project';
import { asAcaiError } from '../core/connectionStore';
import type { IJobSnapshot, JobModel } from '../core/jobModel';
import type { ProjectClient } from '../core/projectClient';
import { acaiIcon } from '../panel/icon';
import { useModel } from '../views/job/hooks';
import { JobView, snapshotOf } from '../views/job/view';
import type { ViewServices } from '../views/services';
import { Sections } from './sections';

/** A job in a tab of the main area. */
export class JobTab extends MainAreaWidget<JobTabContent> {
  static idOf(job: number): string {
    return `acai-job-${job}`;
  }

  constructor(job: number, services: ViewServices) {
    super({ content: new JobTabContent(job, services) });
    this.id = JobTab.idOf(job);
    this.title.icon = acaiIcon;
    this.title.label = `job ${job}`;
    this.title.closable = true;
  }
}

class JobTabContent extends ReactWidget {
  constructor(
    private readonly job: number,
    private readonly services: ViewServices
  ) {
    super();
    this.addClass('jp-AcaiView');
    this.addClass('jp-AcaiJobTab');
  }

  protected override render(): React.ReactElement {
    return <Found job={this.job} services={this.services} />;
  }
}

/** The job as it stands under a cell, and below it all else that is known of it. */
function Followed(props: {
  snapshot: IJobSnapshot;
  services: ViewServices;
}): React.ReactElement | null {
  const { snapshot, services } = props;
  const [model, setModel] = React.useState<JobModel | null>(null);
  React.useEffect(() => {
    const found = services.store.acquire(snapshot);
    const unlook = found.look();
    setModel(found);
    return () => {
      unlook();
      services.store.release(snapshot);
    };
  }, [snapshot, services]);
  const client = React.useMemo(
    () => projectClient(services.connection),
    [services]
  );
  return model === null ? null : (
    <>
      <JobView model={model} snapshot={snapshot} services={services} />
      <Below
        model={model}
        client={client}
        services={services}
        project={snapshot.project}
      />
    </>
  );
}

function Below(props: {
  model: JobModel;
  client: ProjectClient;
  services: ViewServices;
  project: string;
}): React.ReactElement {
  useModel(props.model);
  const open = props.services.openProvenance();
  return (
    <Sections
      model={props.model}
      client={props.client}
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
  services: ViewServices;
}): React.ReactElement {
  const { job, services } = props;
  const [snapshot, setSnapshot] = React.useState<IJobSnapshot | null>(null);
  const [failure, setFailure] = React.useState('');
  const [tries, setTries] = React.useState(0);
  React.useEffect(() => {
    let isWanted = true;
    const find = async () => {
      await services.connection.connect();
      const project = projectOf(services.connection);
      return snapshotOf(project, await services.jobs.job(project, job));
    };
    find().then(
      found => {
        if (isWanted) {
          setSnapshot(found);
          setFailure('');
        }
      },
      (error: unknown) => {
        if (isWanted) {
          setFailure(asAcaiError(error).message);
        }
      }
    );
    return () => {
      isWanted = false;
    };
  }, [job, services, tries]);
  if (snapshot !== null) {
    return <Followed snapshot={snapshot} services={services} />;
  }
  return failure === '' ? (
    <p role="status">Asking…</p>
  ) : (
    <>
      <p className="jp-AcaiView-error" role="alert">
        {failure}
      </p>
      <button
        type="button"
        className="jp-AcaiView-button"
        onClick={() => {
          setTries(tries + 1);
        }}
      >
        try again
      </button>
    </>
  );
}
