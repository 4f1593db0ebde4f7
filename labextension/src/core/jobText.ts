import type { IAttempt, IJob, IJobState } from '../contract';
import { formatDuration, formatMoney } from './format';
import { isGiven } from './given';
import { oneLine } from './text';
import { formatValue } from './values';

const ATTRIBUTES = 10;
const OUT_OF_MEMORY = 'ran out of memory';

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
  const flow = `${job.inputs.join(', ') || 'no input'} → ${job.output ?? 'no output'}`;
  const hasFlow = job.inputs.length > 0 || job.output !== null;
  return [
    `job ${job.number}`,
    job.state,
    ...spent(job),
    ...(hasFlow ? [flow] : [])
  ];
}

function spent(job: IJob): string[] {
  if (isGiven(job.answered_by)) {
    const saved = [
      ...(job.saved_seconds ? [formatDuration(job.saved_seconds)] : []),
      ...(job.saved_usd ? [formatMoney(job.saved_usd)] : [])
    ].join(' and ');
    return [
      `answered by job ${job.answered_by}, which was the same${saved === '' ? '' : `, saved ${saved}`}`
    ];
  }
  const last = lastAttempt(job);
  return !isGiven(last?.billed_seconds) || !isGiven(last.cost_usd)
    ? []
    : [formatDuration(last.billed_seconds), formatMoney(costOf(job) ?? 0)];
}

function badEnd(job: IJob): string {
  const name = `job ${job.number}`;
  if (job.reason.startsWith(OUT_OF_MEMORY)) {
    return `${name} ${job.reason}`;
  }
  const wasKilled =
    job.state === 'killed' && job.reason.startsWith('killed by ');
  const reason = job.reason === '' ? '' : ` (${job.reason})`;
  const how = wasKilled ? `was ${job.reason}` : `${job.state}${reason}`;
  const last = lastAttempt(job);
  const took = last?.run_seconds ?? last?.billed_seconds;
  return `${name} ${how}${!isGiven(took) ? '' : ` after ${formatDuration(took)}`}`;
}

function kept(job: IJob): string[] {
  const hasLog = job.attempts.some(one => (one.log_bytes ?? 0) > 0);
  const name = job.partial?.split(':')[0];
  return [
    ...(hasLog ? ['log kept'] : []),
    ...(name === undefined ? [] : [`partial outputs: %acai get @${name} .`])
  ];
}

function live(job: IJob, now: Date): string[] {
  const state = !isGiven(job.kill_asked_at)
    ? job.state
    : `${job.state}, being ended`;
  const since = formatDuration(Math.floor(secondsBetween(sinceWhen(job), now)));
  return [
    `job ${job.number}`,
    state,
    `since ${since}`,
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
    ? [...named, `and ${more.toLocaleString('en-US')} more`]
    : named;
}
