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
import { trans } from './translation';
import { formatValue } from './values';

/** What there is to say of a job below its line, and only that. */
export function factsOf(job: IJob, now: Date): [string, string][] {
  const current = currentAttempt(job);
  const facts: [string, string | null | undefined][] = [
    [trans.__('elapsed'), elapsed(job, now)],
    [trans.__('expected'), expected(job)],
    [trans.__('cost'), cost(job, now)],
    [trans.__('name'), job.name],
    [trans.__('parameters'), parameters(job)],
    [trans.__('tags'), job.tags?.join(', ')],
    [trans.__('asked for'), asked(job)],
    [trans.__('machine'), current?.machine],
    [trans.__('used'), used(current)],
    [trans.__('spare memory'), spared(job)],
    ...earlierAttempts(job).map((one): [string, string] => [
      trans.__('attempt %1', one.number),
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
  const memory = formatSize(memory_bytes ?? 0);
  return [
    trans.__('%1 vCPU', vcpu ?? 1),
    isGiven(max_memory_bytes)
      ? trans.__('%1 (at most %2)', memory, formatSize(max_memory_bytes))
      : memory,
    ...(isGiven(gpus) && gpus > 0 ? [trans._n('%1 GPU', '%1 GPUs', gpus)] : [])
  ].join(', ');
}

/** What an attempt that is over used of what it had. */
function used(attempt: IAttempt | undefined): string {
  const usage = attempt?.usage;
  if (!isGiven(attempt) || !isGiven(usage)) {
    return '';
  }
  const { cpu_seconds, max_memory_bytes } = usage;
  return [
    ...(isGiven(cpu_seconds)
      ? [trans.__('%1 of CPU', formatDuration(cpu_seconds))]
      : []),
    ...(isGiven(max_memory_bytes)
      ? [
          trans.__(
            'at most %1 of %2 memory',
            formatSize(max_memory_bytes),
            formatSize(attempt.memory_bytes)
          )
        ]
      : [])
  ].join(', ');
}

/** With how much less memory it would have been done. */
function spared(job: IJob): string {
  const less = job.less_memory;
  return isGiven(less)
    ? trans.__(
        '%1 would have been enough, and %2 less',
        formatSize(less.memory_bytes),
        formatMoney(less.saved_usd)
      )
    : '';
}

/** Some reasons say by themselves how long it took; the server gives them in English. */
const AFTER = ' after ';

/** How an attempt that was followed by another ended. */
function described(attempt: IAttempt): string {
  const end = attempt.transitions.at(-1);
  const took = attempt.run_seconds ?? attempt.billed_seconds;
  const reason = end?.reason ?? '';
  const how = `${end?.state ?? ''}${reason === '' ? '' : `: ${reason}`}`;
  return isGiven(took) && !reason.includes(AFTER)
    ? trans.__('%1 after %2', how, formatDuration(took))
    : how;
}

function elapsed(job: IJob, now: Date): string | null {
  const since = billedSince(job);
  if (since === null || hasEnded(job)) {
    return null;
  }
  const done = formatDuration(Math.floor(secondsBetween(since, now)));
  return isGiven(job.expected_seconds)
    ? trans.__('%1 of about %2', done, formatDuration(job.expected_seconds))
    : done;
}

/** Before it is paid for; then it stands beside what has elapsed. */
function expected(job: IJob): string | null {
  const isAhead = billedSince(job) === null && !hasEnded(job);
  return isAhead && isGiven(job.expected_seconds)
    ? trans.__('about %1', formatDuration(job.expected_seconds))
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
  const after = (long: number) =>
    formatMoney((before ?? 0) + (price * long) / 3600);
  return !isGiven(job.expected_seconds) || job.expected_seconds < seconds
    ? trans.__('%1 so far', after(seconds))
    : trans.__(
        '%1 so far of about %2',
        after(seconds),
        after(job.expected_seconds)
      );
}
