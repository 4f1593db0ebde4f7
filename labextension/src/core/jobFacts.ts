import type { IAttempt, IJob } from '../contract';
import { formatDuration, formatMoney, formatSize } from './format';
import { isGiven } from './given';
import {
  billedSince,
  costOf,
  currentAttempt,
  earlierAttempts,
  hasEnded,
  secondsBetween
} from './jobText';
import { formatValue } from './values';

/** What there is to say of a job below its line, and only that. */
export function factsOf(job: IJob, now: Date): [string, string][] {
  const current = currentAttempt(job);
  const facts: [string, string | null | undefined][] = [
    ['elapsed', elapsed(job, now)],
    ['expected', expected(job)],
    ['cost', cost(job, now)],
    ['name', job.name],
    ['parameters', parameters(job)],
    ['tags', job.tags?.join(', ')],
    ['asked for', asked(job)],
    ['machine', current?.machine],
    ['used', used(current)],
    ['spare memory', spared(job)],
    ...earlierAttempts(job).map((one): [string, string] => [
      `attempt ${one.number}`,
      described(one)
    ])
  ];
  return facts.flatMap(([term, said]) =>
    !isGiven(said) || said === '' ? [] : [[term, said]]
  );
}

function parameters(job: IJob): string {
  return Object.entries(job.parameters)
    .map(([key, value]) => `${key}=${formatValue('', value)}`)
    .join(', ');
}

function asked(job: IJob): string {
  const { vcpu, memory_bytes, max_memory_bytes, gpus } = job.resources;
  const most = isGiven(max_memory_bytes)
    ? ` (at most ${formatSize(max_memory_bytes)})`
    : '';
  const cards = !isGiven(gpus) || gpus === 0 ? '' : `, ${gpus} GPU`;
  return `${vcpu ?? 1} vCPU, ${formatSize(memory_bytes ?? 0)}${most}${cards}`;
}

/** What an attempt that is over used of what it had. */
function used(attempt: IAttempt | undefined): string {
  const usage = attempt?.usage;
  if (!isGiven(attempt) || !isGiven(usage)) {
    return '';
  }
  const { cpu_seconds, max_memory_bytes } = usage;
  return [
    ...(isGiven(cpu_seconds) ? [`${formatDuration(cpu_seconds)} of CPU`] : []),
    ...(isGiven(max_memory_bytes)
      ? [
          `at most ${formatSize(max_memory_bytes)} of ${formatSize(attempt.memory_bytes)} memory`
        ]
      : [])
  ].join(', ');
}

/** With how much less memory it would have been done. */
function spared(job: IJob): string {
  const less = job.less_memory;
  return isGiven(less)
    ? `${formatSize(less.memory_bytes)} would have been enough, and ${formatMoney(less.saved_usd)} less`
    : '';
}

/** How an attempt that was followed by another ended. */
function described(attempt: IAttempt): string {
  const end = attempt.transitions.at(-1);
  const took = attempt.run_seconds ?? attempt.billed_seconds;
  const reason = end?.reason ?? '';
  // Some reasons say by themselves how long it took.
  const after =
    isGiven(took) && !reason.includes(' after ')
      ? ` after ${formatDuration(took)}`
      : '';
  return `${end?.state ?? ''}${reason === '' ? '' : `: ${reason}`}${after}`;
}

function elapsed(job: IJob, now: Date): string | null {
  const since = billedSince(job);
  if (since === null || hasEnded(job)) {
    return null;
  }
  const done = formatDuration(Math.floor(secondsBetween(since, now)));
  return isGiven(job.expected_seconds)
    ? `${done} of about ${formatDuration(job.expected_seconds)}`
    : done;
}

/** Before it is paid for; then it stands beside what has elapsed. */
function expected(job: IJob): string | null {
  const isAhead = billedSince(job) === null && !hasEnded(job);
  return isAhead && isGiven(job.expected_seconds)
    ? `about ${formatDuration(job.expected_seconds)}`
    : null;
}

function cost(job: IJob, now: Date): string | null {
  const before = costOf(job);
  const price = currentAttempt(job)?.usd_per_hour;
  const since = billedSince(job);
  if (hasEnded(job) || !isGiven(price) || since === null) {
    return before === null ? null : formatMoney(before);
  }
  const seconds = secondsBetween(since, now);
  const soFar = (before ?? 0) + (price * seconds) / 3600;
  const whole =
    !isGiven(job.expected_seconds) || job.expected_seconds < seconds
      ? ''
      : ` of about ${formatMoney((before ?? 0) + (price * job.expected_seconds) / 3600)}`;
  return `${formatMoney(soFar)} so far${whole}`;
}
