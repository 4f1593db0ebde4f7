import type {
  IBudgetLeft,
  IExpected,
  IOtherMachine,
  IPlan,
  IPlannedInput,
  IPrediction,
  IResources
} from '../contract';
import { formatDuration, formatMoney, formatSize } from './format';
import { isGiven } from './given';

/** A term, and what is said of it. */
export type PlanRow = readonly [term: string, said: string];

/** What only this side knows. */
export interface IToldHere {
  /** What would be run. */
  code: string;
  environment: string;
  now: Date;
}

const PLACES: { [runner: string]: string } = {
  process: 'this machine',
  memory: 'this machine',
  kubernetes: 'the cluster'
};
/** What takes so much of a budget is nearly all of it. */
const NEARLY = 0.8;

/** What would happen, as `--plan` says it. */
export function rowsOf(plan: IPlan, told: IToldHere): PlanRow[] {
  const { expected, inputs, left = [] } = plan;
  const rows: PlanRow[] = inputs.map(one => ['input', inputText(one)]);
  if (inputs.length === 0) {
    rows.push(['input', 'none']);
  }
  rows.push(
    ['output', plan.output ?? 'job-N-output, if there is any'],
    ['code', told.code],
    ['environment', told.environment],
    ['machine', machineText(plan)],
    ['expected', expectedText(plan)]
  );
  if (isGiven(expected?.faster)) {
    rows.push(['faster', otherText(expected.faster)]);
  }
  if (isGiven(expected?.cheaper)) {
    rows.push(['cheaper', otherText(expected.cheaper)]);
  }
  rows.push(...left.map((one): PlanRow => ['budget', budgetText(one)]));
  rows.push(['start', startText(plan, told.now)]);
  return rows;
}

/** `2 vCPU, 1 GB`. */
export function shareText(share: IResources): string {
  const { vcpu = 1, memory_bytes = 0, gpus = 0, gpu_type = '' } = share;
  const type = gpu_type === '' ? '' : ` (${gpu_type})`;
  const graphics = gpus === 0 ? '' : `, ${counted(gpus, 'GPU')}${type}`;
  return `${vcpu} vCPU, ${formatSize(memory_bytes)}${graphics}`;
}

/** A machine of the front, with what is expected of it. */
export function pointText(point: IPrediction): string {
  return [
    shareText(point.resources),
    `${formatDuration(point.seconds)} (${spanOf(point.low_seconds, point.high_seconds, formatDuration)})`,
    `${formatMoney(point.cost_usd)} (${spanOf(point.low_cost_usd, point.high_cost_usd, formatMoney)})`,
    ...(point.is_vague === true ? ['too uncertain to decide by'] : [])
  ].join(' · ');
}

/** How many jobs it would be. */
export function headOf(plan: IPlan): string {
  const { jobs, at_once } = plan;
  return jobs === 1
    ? 'Plan for 1 job'
    : `Plan for ${counted(jobs, 'job')}, ${at_once.toLocaleString('en-US')} at once`;
}

function inputText(one: IPlannedInput): string {
  const there = one.is_there ? 'already there' : 'to be fetched';
  const what = `${counted(one.file_count, 'file')}, ${formatSize(one.size_bytes)}`;
  return `${one.file_set ?? 'several laid together'} (${what}, ${there})`;
}

function machineText(plan: IPlan): string {
  const place = PLACES[plan.runner] ?? plan.runner;
  return `${shareText(plan.resources)} on ${place}, ${formatMoney(plan.usd_per_hour)} per hour`;
}

function expectedText(plan: IPlan): string {
  const one = plan.expected;
  if (!isGiven(one)) {
    return 'not known: no such job has finished yet';
  }
  const parts = [middleText(one), `from ${counted(one.runs, 'earlier run')}`];
  if (isGiven(one.borrowed_from) && one.borrowed_from !== '') {
    parts.push(`with the experience of ${one.borrowed_from}`);
  }
  if (one.is_vague === true) {
    parts.push('too uncertain to decide by');
  }
  const { outside = [] } = one;
  if (outside.length > 0) {
    parts.push(`further than any of them: ${outside.join('; ')}`);
  }
  if (plan.jobs > 1) {
    const rounds = Math.ceil(plan.jobs / Math.max(1, plan.at_once));
    const all = formatDuration(one.seconds * rounds);
    const usd = formatMoney(one.cost_usd * plan.jobs);
    parts.push(`all together about ${all}, ${usd}`);
  }
  return parts.join(', ');
}

/** The middle, and from where to where when that is not the same. */
function middleText(one: IExpected): string {
  const middle = `${formatDuration(one.seconds)}, ${formatMoney(one.cost_usd)}`;
  const times = spanOf(one.min_seconds, one.max_seconds, formatDuration);
  const sums = spanOf(one.min_cost_usd, one.max_cost_usd, formatMoney);
  return one.min_seconds === one.max_seconds
    ? middle
    : `${middle} (${times}, ${sums})`;
}

function spanOf(
  low: number,
  high: number,
  format: (value: number) => string
): string {
  return `${format(low)} to ${format(high)}`;
}

function otherText(one: IOtherMachine): string {
  return `${shareText(one.resources)}: ${formatDuration(one.seconds)}, ${formatMoney(one.cost_usd)}`;
}

function budgetText(one: IBudgetLeft): string {
  const left = one.limit_usd - one.spent_usd;
  const spent = `${formatMoney(one.spent_usd)} spent`;
  if (left > 0) {
    const near =
      one.spent_usd >= NEARLY * one.limit_usd ? ', which is nearly all' : '';
    return `${one.name}: ${formatMoney(left)} of ${formatMoney(one.limit_usd)} left; ${spent}${near}`;
  }
  const then = one.stops
    ? 'jobs are refused and stopped'
    : 'jobs go on all the same';
  return `${one.name}: nothing of ${formatMoney(one.limit_usd)} left; ${spent}, and ${then}`;
}

function startText(plan: IPlan, now: Date): string {
  const { waiting } = plan;
  if (!isGiven(waiting)) {
    return 'at once';
  }
  if (!isGiven(waiting.starts_at)) {
    return waiting.sentence;
  }
  const seconds = (Date.parse(waiting.starts_at) - now.getTime()) / 1000;
  return `in about ${formatDuration(Math.max(0, seconds))}. ${waiting.sentence}`;
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}
