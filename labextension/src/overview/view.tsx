import * as React from 'react';

import type { IJob, IOverview } from '../contract';
import type { AcaiError } from '../core/errors';
import { formatMoney } from '../core/format';
import {
  countsOf,
  labelOf,
  progressOf,
  standingOf
} from '../core/overviewText';
import { RUN_LINE } from '../core/runCell';
import { toneOf } from '../core/tones';
import { trans } from '../core/translation';
import { Sentence } from '../views/sentence';

export interface IOverviewViewProps {
  overview: IOverview | null;
  costToday: number | null;
  error: AcaiError | null;
  isConnected: boolean;
  now: Date;
  /** Opens a job; null where nothing can. */
  onOpen: ((job: number) => void) | null;
  /** Opens the table of all jobs; null where there is none. */
  onOpenAll: (() => void) | null;
}

/** Running, waiting and recent jobs; knows nothing of JupyterLab. */
export function OverviewView(props: IOverviewViewProps): React.ReactElement {
  const { overview, error, isConnected } = props;
  if (overview === null) {
    const sentence =
      error?.message ??
      (isConnected ? trans.__('Asking…') : trans.__('There is no connection.'));
    return <p className="jp-AcaiPanel-none">{sentence}</p>;
  }
  const { running, waiting } = countsOf(overview);
  return (
    <>
      {error !== null && (
        <p className="jp-AcaiOverview-error" role="alert">
          {error.message}
        </p>
      )}
      <Group
        name={trans.__('Running')}
        label={trans.__('Running jobs')}
        count={running}
        jobs={overview.running}
        {...props}
      />
      <Group
        name={trans.__('Waiting')}
        label={trans.__('Waiting jobs')}
        count={waiting}
        jobs={overview.waiting}
        {...props}
      />
      <Group
        name={trans.__('Recent')}
        label={trans.__('Recent jobs')}
        count={null}
        jobs={overview.recent}
        {...props}
      />
      {isEmpty(overview) && (
        <p className="jp-AcaiPanel-none">
          <Sentence
            text={trans.__('No jobs yet. Begin a cell with %1.', '%1')}
            parts={[<code key="run">{RUN_LINE}</code>]}
          />
        </p>
      )}
      <Foot {...props} />
    </>
  );
}

function Foot(props: IOverviewViewProps): React.ReactElement {
  const { costToday, onOpenAll } = props;
  return (
    <p className="jp-AcaiOverview-foot">
      <span>
        {costToday === null ? '' : trans.__('%1 today', formatMoney(costToday))}
      </span>
      {onOpenAll !== null && (
        <button
          type="button"
          className="jp-AcaiOverview-link"
          onClick={onOpenAll}
        >
          {' '}
          {trans.__('All jobs')}{' '}
        </button>
      )}
    </p>
  );
}

function Group(props: {
  name: string;
  label: string;
  count: number | null;
  jobs: readonly IJob[];
  now: Date;
  onOpen: ((job: number) => void) | null;
}): React.ReactElement | null {
  const { name, label, count, jobs, now, onOpen } = props;
  if (jobs.length === 0) {
    return null;
  }
  const more = count === null ? 0 : count - jobs.length;
  return (
    <section aria-label={label} className="jp-AcaiOverview-group">
      <h3>
        {name}
        {count !== null && (
          <span className="jp-AcaiOverview-count"> {count}</span>
        )}
      </h3>
      <ul>
        {jobs.map(job => (
          <Row key={job.number} job={job} now={now} onOpen={onOpen} />
        ))}
      </ul>
      {more > 0 && (
        <p className="jp-AcaiPanel-none">
          {trans.__('and %1 more', more.toLocaleString('en-US'))}
        </p>
      )}
    </section>
  );
}

function Row(props: {
  job: IJob;
  now: Date;
  onOpen: ((job: number) => void) | null;
}): React.ReactElement {
  const { job, now, onOpen } = props;
  const progress = progressOf(job, now);
  const Part = onOpen === null ? 'div' : 'button';
  return (
    <li>
      <Part
        type={onOpen === null ? undefined : 'button'}
        className="jp-AcaiOverview-job"
        data-tone={toneOf(job)}
        data-acai-thing={job.number}
        onClick={() => onOpen?.(job.number)}
      >
        <span className="jp-AcaiOverview-name">
          {`${trans.__('job %1', job.number)} `}
          <span className="jp-AcaiOverview-label">{labelOf(job)}</span>
        </span>
        <span className="jp-AcaiOverview-standing">{standingOf(job, now)}</span>
        {progress !== null && (
          <span className="jp-AcaiOverview-progress" aria-hidden="true">
            <span style={{ width: `${100 * progress}%` }} />
          </span>
        )}
      </Part>
    </li>
  );
}

function isEmpty(overview: IOverview): boolean {
  const { running, waiting, recent } = overview;
  return running.length + waiting.length + recent.length === 0;
}
