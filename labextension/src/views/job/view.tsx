import * as React from 'react';

import type { IJob } from '../../contract';
import { AcaiError } from '../../core/errors';
import type { IJobSnapshot, JobModel } from '../../core/jobModel';
import { describeJob, hasEnded, lastAttempt } from '../../core/jobText';
import { oneLine } from '../../core/text';
import { toneOf } from '../../core/tones';
import { trans } from '../../core/translation';
import type { ViewServices } from '../services';
import { Actions } from './actions';
import { Details } from './details';
import { useModel, useOnce, useSeconds } from './hooks';
import type { ILogTarget } from './logHooks';
import { LogPanel } from './logPanel';

export interface IJobViewProps {
  model: JobModel;
  snapshot: IJobSnapshot;
  services: ViewServices;
  /** A line of the log to be shown; each time it is another object. */
  target?: ILogTarget;
}

/** A job: a line, what it does now or how it went, its log, and what can be done with it. */
export function JobView(props: IJobViewProps): React.ReactElement {
  const { model, snapshot, services, target } = props;
  useModel(model);
  const { job } = model;
  const isLive = model.isLive;
  const now = useSeconds(services.ticker, isLive);
  const [hasDetails, setDetails] = React.useState<boolean | null>(null);
  const [hasLog, setLog] = React.useState<boolean | null>(null);
  const [next, setNext] = React.useState<IJobSnapshot | null>(null);
  const [error, setError] = React.useState('');
  const hasBegun = lastAttempt(job) !== undefined;
  const showsLog =
    hasLog ?? (isLive && hasBegun && snapshot.log_is_below !== true);
  const showsDetails = hasDetails ?? isLive;

  React.useEffect(() => {
    if (target !== undefined) {
      setLog(true);
    }
  }, [target]);

  const attempt = async (act: () => Promise<void>) => {
    setError('');
    try {
      await act();
    } catch (reason) {
      setError(reason instanceof AcaiError ? reason.message : String(reason));
    }
  };
  const { project, number } = snapshot;
  const [isRunAgain, runAgain] = useOnce(() =>
    attempt(async () => {
      await model.refresh();
      if (model.identity === 'same') {
        const made = await services.jobs.runAgain(project, number);
        setNext(snapshotOf(project, made));
      }
    })
  );
  return (
    <section
      aria-label={trans.__('job %1', number)}
      data-acai-thing={number}
      data-acai-project={project}
    >
      <p className="jp-AcaiJob-line" data-tone={toneOf(job)}>
        <span>{describeJob(job, now)}</span>
      </p>
      <p className="jp-AcaiView-aside" role="status">
        {trans.__('job %1 is %2', number, job.state)}
      </p>
      {[...notesOf(model), ...(snapshot.notes ?? [])].map(note => (
        <p className="jp-AcaiView-note" key={note}>
          {oneLine(note)}
        </p>
      ))}
      {showsDetails && <Details model={model} now={now} />}
      <Actions
        number={number}
        isLive={isLive}
        canAct={model.isThere}
        showsLog={showsLog}
        showsDetails={showsDetails}
        onLog={() => {
          setLog(!showsLog);
        }}
        onDetails={() => {
          setDetails(!showsDetails);
        }}
        onKill={() =>
          void attempt(async () => {
            model.accept(await services.jobs.kill(project, number));
          })
        }
        isRunAgain={isRunAgain}
        onRunAgain={runAgain}
        onProvenance={provenanceOf(services, job, project)}
      />
      {error !== '' && (
        <p className="jp-AcaiView-error" role="alert">
          {error}
        </p>
      )}
      {showsLog && (
        <LogPanel
          model={model}
          project={project}
          services={services}
          target={target}
          onUse={() => {
            // It does not go with the job's end while somebody reads it.
            setLog(true);
          }}
        />
      )}
      {next !== null && <NextJob snapshot={next} services={services} />}
    </section>
  );
}

/** A job that was submitted or chosen here, followed while it is shown. */
export function NextJob(props: {
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
  return model === null ? null : (
    <div className="jp-AcaiJob-next">
      <JobView model={model} snapshot={snapshot} services={services} />
    </div>
  );
}

export function snapshotOf(project: string, job: IJob): IJobSnapshot {
  return { project, number: job.number, created_at: job.created_at, job };
}

function provenanceOf(
  services: ViewServices,
  job: IJob,
  project: string
): (() => void) | undefined {
  const open = services.openProvenance();
  if (open === null || !hasEnded(job)) {
    return undefined;
  }
  return () => {
    open(job.output ?? String(job.number), project);
  };
}

function notesOf(model: JobModel): string[] {
  const { job, identity, error } = model;
  const last = lastAttempt(job);
  return [
    ...(identity === 'other'
      ? [
          trans.__(
            "The project of this page has another job %1. This is how the notebook's own one stood.",
            job.number
          )
        ]
      : []),
    ...(identity === 'gone'
      ? [
          trans.__(
            'This project has no such job. This is how the notebook knew it.'
          )
        ]
      : []),
    ...(error === null ? [] : [error.message]),
    ...(last?.warnings ?? []).map(one => trans.__('warning: %1', one)),
    ...(last?.tag_misses ?? []).slice(0, 10)
  ];
}
