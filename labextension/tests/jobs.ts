import type { IAttempt, IJob, IJobState } from '../src/contract';
import type { IJobSnapshot } from '../src/core/jobModel';

export function makeJob(changes: Partial<IJob> = {}): IJob {
  return {
    number: 7,
    name: '',
    user: 'you',
    state: 'running',
    reason: '',
    command: ['python', 'train.py'],
    inputs: ['digits:1'],
    code: null,
    output: null,
    parameters: {},
    resources: { vcpu: 1, memory_bytes: 1024 ** 3 },
    created_at: '2026-11-18T12:00:00Z',
    attempts: [makeAttempt()],
    ...changes
  };
}

/** An attempt that runs, or that ended so. */
export function makeAttempt({ ended }: { ended?: IJobState } = {}): IAttempt {
  const end = { at: '2026-11-18T12:00:09Z', reason: 'exit 1' };
  return {
    number: 1,
    runner: 'process',
    vcpu: 1,
    memory_bytes: 1024 ** 3,
    transitions: [
      { state: 'launching', at: '2026-11-18T12:00:01Z', reason: '' },
      { state: 'downloading', at: '2026-11-18T12:00:02Z', reason: '' },
      { state: 'running', at: '2026-11-18T12:00:05Z', reason: '' },
      ...(ended === undefined ? [] : [{ state: ended, ...end }])
    ]
  };
}

export function makeFinished(changes: Partial<IJob> = {}): IJob {
  const attempt = {
    ...makeAttempt(),
    billed_seconds: 3.2,
    cost_usd: 0.00003,
    run_seconds: 3
  };
  return makeJob({
    state: 'finished',
    output: 'model:1',
    attempts: [attempt],
    attributes: { accuracy: 0.97 },
    ...changes
  });
}

export function snapshotOf(job: IJob, project = 'default'): IJobSnapshot {
  return { project, number: job.number, created_at: job.created_at, job };
}
