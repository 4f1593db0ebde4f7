import * as React from 'react';

import { asAcaiError } from '../../core/connectionStore';
import type { IJobSnapshot } from '../../core/jobModel';
import { NextJob, snapshotOf } from '../job/view';
import type { ViewServices } from '../services';

/** What somebody opened in a table of jobs. */
export interface IOpened {
  job: IJobSnapshot | null;
  failure: string;
  /** Open a job, or close it when it is the open one. */
  toggle: (thing: string) => void;
}

/** Let a number in a table open its job. */
export function useOpened(services: ViewServices, project: string): IOpened {
  const [job, setJob] = React.useState<IJobSnapshot | null>(null);
  const [failure, setFailure] = React.useState('');
  const open = async (thing: string) => {
    try {
      const found = await services.jobs.job(project, Number(thing));
      setJob(snapshotOf(project, found));
      setFailure('');
    } catch (error) {
      setFailure(asAcaiError(error).message);
    }
  };
  const toggle = (thing: string) => {
    if (String(job?.number) === thing) {
      setJob(null);
    } else {
      void open(thing);
    }
  };
  return { job, failure, toggle };
}

/** The open job below its table, or why there is none. */
export function OpenedJob(props: {
  opened: IOpened;
  services: ViewServices;
}): React.ReactElement {
  const { job, failure } = props.opened;
  return (
    <>
      {failure !== '' && (
        <p className="jp-AcaiView-error" role="alert">
          {failure}
        </p>
      )}
      {job !== null && (
        <NextJob key={job.number} snapshot={job} services={props.services} />
      )}
    </>
  );
}
