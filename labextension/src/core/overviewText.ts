import type { IJob, IOverview } from '../contract';
import { formatAgo, formatDuration, formatMoney } from './format';
import { isGiven } from './given';
import {
  billedSince,
  costOf,
  hasEnded,
  lastAttempt,
  secondsBetween
} from './jobText';
import { oneLine } from './text';
import { trans } from './translation';

/** How far a job is, as far as somebody can know; 1 is the end that was expected. */
export function progressOf(job: IJob, now: Date): number | null {
  const since = billedSince(job);
  const expected = job.expected_seconds;
  if (since === null || hasEnded(job) || !isGiven(expected) || expected <= 0) {
    return null;
  }
  return Math.min(1, secondsBetween(since, now) / expected);
}

/** What to call a job: as its user did, else by its notebook when it is a cell's, else by its command. */
export function labelOf(job: IJob): string {
  if (job.name !== '') {
    return oneLine(job.name);
  }
  const words =
    typeof job.command === 'string' ? job.command.split(/\s+/) : job.command;
  const notebook = /^code\.(.+):\d+$/.exec(job.code ?? '')?.[1];
  if (notebook !== undefined && /^cell\.(?:py|sh)$/.test(words.at(-1) ?? '')) {
    return oneLine(
      notebook === 'cell'
        ? trans.__('a cell')
        : trans.__('a cell of %1', notebook)
    );
  }
  const isPython = /(?:^|\/)python[\d.]*$/.test(words[0] ?? '');
  const start = isPython
    ? words.findIndex((word, at) => at > 0 && word !== '-u')
    : 0;
  return oneLine(words.slice(Math.max(0, start)).join(' '));
}

/** A job in one line below its name: how long, of how long, and for how much; or why it waits; or how it ended. */
export function standingOf(job: IJob, now: Date): string {
  const parts = hasEnded(job) ? ended(job, now) : open(job, now);
  return oneLine(parts.join(' · '));
}

/** `2 running · 1 waiting · $0.03 today`. */
export function describeProject(
  overview: IOverview,
  costToday: number | null
): string {
  const { running, waiting } = countsOf(overview);
  return [
    trans._n('%1 running', '%1 running', running),
    ...(waiting > 0 ? [trans._n('%1 waiting', '%1 waiting', waiting)] : []),
    ...(costToday === null
      ? []
      : [trans.__('%1 today', formatMoney(costToday))])
  ].join(' · ');
}

/** How many hold a machine, and how many wait for one. */
export function countsOf(overview: IOverview): {
  running: number;
  waiting: number;
} {
  let running = 0;
  for (const [state, count] of Object.entries(overview.states)) {
    running += state === 'queued' ? 0 : count;
  }
  return { running, waiting: overview.states.queued ?? 0 };
}

function open(job: IJob, now: Date): string[] {
  const since = billedSince(job);
  if (since === null) {
    return [
      isGiven(job.kill_asked_at)
        ? trans.__('%1, being ended', job.state)
        : job.state,
      ...(isGiven(job.waiting) ? [job.waiting.sentence] : []),
      ...startOf(job, now)
    ];
  }
  const seconds = secondsBetween(since, now);
  const expected = job.expected_seconds;
  const elapsed = formatDuration(Math.floor(seconds));
  const state = isGiven(job.kill_asked_at)
    ? trans.__('%1, being ended', job.state)
    : job.state;
  return [
    state,
    isGiven(expected)
      ? trans.__('%1 of about %2', elapsed, formatDuration(expected))
      : elapsed,
    ...costUntil(job, seconds)
  ];
}

function startOf(job: IJob, now: Date): string[] {
  const start = job.waiting?.starts_at;
  if (!isGiven(start)) {
    return [];
  }
  const seconds = secondsBetween(now, new Date(start));
  return seconds < 1
    ? []
    : [trans.__('starts in about %1', formatDuration(Math.ceil(seconds)))];
}

function costUntil(job: IJob, seconds: number): string[] {
  const price = lastAttempt(job)?.usd_per_hour;
  const before = costOf(job) ?? 0;
  return isGiven(price) ? [formatMoney(before + (price * seconds) / 3600)] : [];
}

function ended(job: IJob, now: Date): string[] {
  const took = lastAttempt(job)?.billed_seconds;
  const cost = costOf(job);
  return [
    job.state,
    ...(isGiven(job.answered_by)
      ? [trans.__('as job %1', job.answered_by)]
      : []),
    ...(isGiven(took) ? [formatDuration(took)] : []),
    ...(cost === null ? [] : [formatMoney(cost)]),
    ...(isGiven(job.ended_at) ? [formatAgo(new Date(job.ended_at), now)] : [])
  ];
}
