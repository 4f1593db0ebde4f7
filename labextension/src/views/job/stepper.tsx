import * as React from 'react';

import type { IJob, IJobState, ITransfer } from '../../contract';
import { formatDuration, formatSize } from '../../core/format';
import { isGiven } from '../../core/given';
import {
  currentAttempt,
  earlierAttempts,
  hasEnded,
  secondsBetween
} from '../../core/jobText';
import { trans } from '../../core/translation';

const WAY: readonly IJobState[] = [
  'queued',
  'launching',
  'downloading',
  'running',
  'uploading'
];

export interface IStep {
  state: IJobState;
  place: 'done' | 'now' | 'ahead' | 'skipped';
  seconds: number | null;
}

/** The states of a job's attempt, each with how long it was or is there. What was before its attempt is behind it. */
export function stepsOf(job: IJob, now: Date): IStep[] {
  const taken = currentAttempt(job)?.transitions ?? [];
  const begun = [{ state: 'queued', at: queuedAt(job) }, ...taken];
  const isOver = hasEnded(job);
  const last: IJobState = isOver ? job.state : 'finished';
  return [...WAY, last].map(state => {
    const index = begun.findIndex(step => step.state === state);
    const at = begun[index]?.at;
    const until = begun[index + 1]?.at ?? job.ended_at;
    if (state === last) {
      return { state, place: isOver ? 'done' : 'ahead', seconds: null };
    }
    if (at === undefined) {
      const isBehind = isOver || WAY.indexOf(state) < WAY.indexOf(job.state);
      return { state, place: isBehind ? 'skipped' : 'ahead', seconds: null };
    }
    const end = isGiven(until) ? new Date(until) : now;
    return {
      state,
      place: state === job.state ? 'now' : 'done',
      seconds: secondsBetween(new Date(at), end)
    };
  });
}

function queuedAt(job: IJob): string {
  const before = earlierAttempts(job).at(-1)?.transitions.at(-1);
  return before?.at ?? job.created_at;
}

/** The way of a job from left to right. */
export function Stepper(props: {
  job: IJob;
  transfer: ITransfer | null;
  now: Date;
}): React.ReactElement {
  const { job, transfer, now } = props;
  const steps = stepsOf(job, now).filter(step => step.place !== 'skipped');
  const isAgain = earlierAttempts(job).length > 0;
  return (
    <ol
      className="jp-AcaiJob-steps"
      aria-label={trans.__('job %1: states', job.number)}
    >
      {steps.map(step => (
        <li
          key={step.state}
          data-place={step.place}
          data-state={step.state}
          aria-current={step.place === 'now' ? 'step' : undefined}
        >
          <span className="jp-AcaiJob-stepName">
            {step.state === 'queued' && isAgain
              ? trans.__('%1 again', step.state)
              : step.state}
          </span>
          {step.seconds !== null && (
            <span className="jp-AcaiJob-stepTime">
              {formatDuration(
                step.place === 'now' ? Math.floor(step.seconds) : step.seconds
              )}
            </span>
          )}
          {step.place === 'now' && transfer !== null && (
            <TransferBar transfer={transfer} />
          )}
        </li>
      ))}
    </ol>
  );
}

function TransferBar(props: { transfer: ITransfer }): React.ReactElement {
  const { done_bytes, total_bytes, state } = props.transfer;
  const words = trans.__(
    '%1 of %2',
    formatSize(done_bytes),
    formatSize(total_bytes)
  );
  return (
    <span className="jp-AcaiJob-transfer">
      <progress
        aria-label={trans.__('%1: %2', state, words)}
        max={Math.max(total_bytes, 1)}
        value={Math.min(done_bytes, total_bytes)}
      />
      {words}
    </span>
  );
}
