import type { IAttempt, IJob, IJobState } from '../contract';
import { formatDuration, formatMoney } from './format';
import { isGiven } from './given';
import { oneLine } from './text';
import { trans } from './translation';
import { formatValue } from './values';

const ATTRIBUTES = 10;
/* eslint-disable acai/untranslated -- as the server begins these reasons */
const OUT_OF_MEMORY = 'ran out of memory';
const KILLED_BY = 'killed by ';
/* eslint-enable acai/untranslated */

const ENDS: readonly IJobState[] = ['finished', 'failed', 'killed', 'crashed'];

export function hasEnded(job: IJob): boolean {
  return hasEndedIn(job.state);
}

export function hasEndedIn(state: IJobState): boolean {
  return ENDS.includes(state);
}

/** How a job ended, or where it stands, as the magics say it. */
export function describeJob(job: IJob, now: Date): string {
  const parts =
    job.state === 'finished'
      ? finished(job)
      : hasEnded(job)
        ? [badEnd(job), ...kept(job)]
        : live(job, now);
  return oneLine([...parts, ...describeAttributes(job)].join(' · '));
}

/** What all attempts cost together; null while nobody knows. */
export function costOf(job: IJob): number | null {
  const costs = job.attempts.flatMap(one => one.cost_usd ?? []);
  return costs.length > 0 ? costs.reduce((a, b) => a + b, 0) : null;
}

/** Since when a job is where it is, or since when it is to end. */
export function sinceWhen(job: IJob): Date {
  if (isGiven(job.kill_asked_at)) {
    return new Date(job.kill_asked_at);
  }
  const last = lastAttempt(job)?.transitions.at(-1);
  return new Date(last?.at ?? job.created_at);
}

export function lastAttempt(job: IJob): IAttempt | undefined {
  return job.attempts.at(-1);
}

/** The attempt that a job is in, or ended with. One that is queued again, or was ended while it was, is in none. */
export function currentAttempt(job: IJob): IAttempt | undefined {
  const last = lastAttempt(job);
  const end = last?.transitions.at(-1)?.state;
  const isOver = end !== undefined && hasEndedIn(end);
  return isOver && end !== job.state ? undefined : last;
}

/** The attempts that are behind a job: it was queued again after each. */
export function earlierAttempts(job: IJob): IAttempt[] {
  const current = currentAttempt(job);
  return job.attempts.filter(one => one !== current);
}

/** Since when a live job is paid for: from the start of downloading. */
export function billedSince(job: IJob): Date | null {
  const steps = currentAttempt(job)?.transitions ?? [];
  const first = steps.find(step => PAID.includes(step.state));
  return first === undefined ? null : new Date(first.at);
}

const PAID: readonly IJobState[] = ['downloading', 'running', 'uploading'];

export function secondsBetween(from: Date, to: Date): number {
  return Math.max(0, (to.getTime() - from.getTime()) / 1000);
}

function finished(job: IJob): string[] {
  const flow = `${job.inputs.join(', ') || trans.__('no input')} → ${job.output ?? trans.__('no output')}`;
  const hasFlow = job.inputs.length > 0 || job.output !== null;
  return [
    trans.__('job %1', job.number),
    job.state,
    ...spent(job),
    ...(hasFlow ? [flow] : [])
  ];
}

function spent(job: IJob): string[] {
  if (isGiven(job.answered_by)) {
    return [answered(job, job.answered_by)];
  }
  const last = lastAttempt(job);
  return !isGiven(last?.billed_seconds) || !isGiven(last.cost_usd)
    ? []
    : [formatDuration(last.billed_seconds), formatMoney(costOf(job) ?? 0)];
}

function answered(job: IJob, by: number): string {
  const time = job.saved_seconds ? formatDuration(job.saved_seconds) : '';
  const money = job.saved_usd ? formatMoney(job.saved_usd) : '';
  if (time !== '' && money !== '') {
    return trans.__(
      'answered by job %1, which was the same, saved %2 and %3',
      by,
      time,
      money
    );
  }
  return time === '' && money === ''
    ? trans.__('answered by job %1, which was the same', by)
    : trans.__(
        'answered by job %1, which was the same, saved %2',
        by,
        time || money
      );
}

function badEnd(job: IJob): string {
  const { number, reason, state } = job;
  if (reason.startsWith(OUT_OF_MEMORY)) {
    return trans.__('job %1 %2', number, reason);
  }
  const last = lastAttempt(job);
  const took = last?.run_seconds ?? last?.billed_seconds;
  const time = isGiven(took) ? formatDuration(took) : '';
  if (state === 'killed' && reason.startsWith(KILLED_BY)) {
    return time === ''
      ? trans.__('job %1 was %2', number, reason)
      : trans.__('job %1 was %2 after %3', number, reason, time);
  }
  const how = reason === '' ? state : `${state} (${reason})`;
  return time === ''
    ? trans.__('job %1 %2', number, how)
    : trans.__('job %1 %2 after %3', number, how, time);
}

function kept(job: IJob): string[] {
  const hasLog = job.attempts.some(one => (one.log_bytes ?? 0) > 0);
  const name = job.partial?.split(':')[0];
  return [
    ...(hasLog ? [trans.__('log kept')] : []),
    ...(name === undefined
      ? []
      : [trans.__('partial outputs: %1', `%acai get @${name} .`)])
  ];
}

function live(job: IJob, now: Date): string[] {
  const state = !isGiven(job.kill_asked_at)
    ? job.state
    : trans.__('%1, being ended', job.state);
  const since = formatDuration(Math.floor(secondsBetween(sinceWhen(job), now)));
  return [
    trans.__('job %1', job.number),
    state,
    trans.__('since %1', since),
    ...(!isGiven(job.waiting) ? [] : [job.waiting.sentence])
  ];
}

function describeAttributes(job: IJob): string[] {
  const all = Object.entries(job.attributes ?? {});
  const named = all
    .slice(0, ATTRIBUTES)
    .map(([key, value]) => `${key} ${formatValue('', value)}`);
  const more = all.length - named.length;
  return more > 0
    ? [...named, trans.__('and %1 more', more.toLocaleString('en-US'))]
    : named;
}
