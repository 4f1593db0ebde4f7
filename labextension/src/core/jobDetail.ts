import type { IAttempt, IJob, IJobRequest } from '../contract';
import { formatDuration, formatMoney, formatSize } from './format';
import { isGiven } from './given';
import { oneLine } from './text';
import { trans } from './translation';

/** One try at running a job in words, a column each. */
export interface IAttemptRow {
  number: number;
  machine: string;
  end: string;
  runTime: string;
  billedTime: string;
  cost: string;
  peak: string;
}

export function attemptRows(job: IJob): IAttemptRow[] {
  return job.attempts.map(one => ({
    number: one.number,
    machine: oneLine(
      `${one.machine ?? ''} ${trans.__('%1 vCPU', one.vcpu)}, ${formatSize(one.memory_bytes)}`.trim()
    ),
    end: endOf(one),
    runTime: isGiven(one.run_seconds) ? formatDuration(one.run_seconds) : '',
    billedTime: isGiven(one.billed_seconds)
      ? formatDuration(one.billed_seconds)
      : '',
    cost: isGiven(one.cost_usd) ? formatMoney(one.cost_usd) : '',
    peak: isGiven(one.usage?.max_memory_bytes)
      ? formatSize(one.usage.max_memory_bytes)
      : ''
  }));
}

function endOf(attempt: IAttempt): string {
  const last = attempt.transitions.at(-1);
  const state = last?.state ?? '';
  const end = isGiven(attempt.exit_code)
    ? trans.__('%1 (exit %2)', state, attempt.exit_code)
    : state;
  return oneLine(last?.reason ? `${end}, ${last.reason}` : end);
}

/** What the last attempt ran with, as names and values: a package's name and its version, and what else was told. */
export function environmentRows(asked: IJobRequest): [string, string][] {
  const found: [string, string][] = [];
  const { packages, ...others } = asked.environment;
  for (const [name, value] of Object.entries(others)) {
    if (typeof value === 'string' || typeof value === 'number') {
      found.push([oneLine(name), oneLine(String(value))]);
    }
  }
  if (typeof packages === 'object' && packages !== null) {
    for (const [name, version] of Object.entries(packages)) {
      found.push([oneLine(name), oneLine(String(version))]);
    }
  }
  return found;
}

/** `predicted 3 min 20 s, took 3 min 5 s (7 % less)`. */
export function describePrediction(predicted: number, actual: number): string {
  const part = Math.round((100 * (actual - predicted)) / predicted);
  const times = [formatDuration(predicted), formatDuration(actual)];
  if (part === 0) {
    return trans.__('predicted %1, took %2 (as predicted)', ...times);
  }
  return part > 0
    ? trans.__('predicted %1, took %2 (%3 % more)', ...times, part)
    : trans.__('predicted %1, took %2 (%3 % less)', ...times, -part);
}
