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
import { trans } from './translation';

/** A term, and what is said of it. */
export type PlanRow = readonly [term: string, said: string];

/** What only this side knows. */
export interface IToldHere {
  /** What would be run. */
  code: string;
  environment: string;
  now: Date;
}

const PLACES: { [runner: string]: () => string } = {
  process: () => trans.__('this machine'),
  memory: () => trans.__('this machine'),
  kubernetes: () => trans.__('the cluster')
};
/** What takes so much of a budget is nearly all of it. */
const NEARLY = 0.8;

/** What would happen, as `--plan` says it. */
export function rowsOf(plan: IPlan, told: IToldHere): PlanRow[] {
  const { expected, inputs, left = [] } = plan;
  const rows: PlanRow[] = inputs.map(one => [
    trans.__('input'),
    inputText(one)
  ]);
  if (inputs.length === 0) {
    rows.push([trans.__('input'), trans.__('none')]);
  }
  rows.push(
    [
      trans.__('output'),
      plan.output ?? trans.__('%1, if there is any', 'job-N-output')
    ],
    [trans.__('code'), told.code],
    [trans.__('environment'), told.environment],
    [trans.__('machine'), machineText(plan)],
    [trans.__('expected'), expectedText(plan)]
  );
  if (isGiven(expected?.faster)) {
    rows.push([trans.__('faster'), otherText(expected.faster)]);
  }
  if (isGiven(expected?.cheaper)) {
    rows.push([trans.__('cheaper'), otherText(expected.cheaper)]);
  }
  rows.push(
    ...left.map((one): PlanRow => [trans.__('budget'), budgetText(one)])
  );
  rows.push([trans.__('start'), startText(plan, told.now)]);
  return rows;
}

/** `2 vCPU, 1 GB`. */
export function shareText(share: IResources): string {
  const { vcpu = 1, memory_bytes = 0, gpus = 0, gpu_type = '' } = share;
  const cards = trans._n('%1 GPU', '%1 GPUs', gpus);
  const type = gpu_type === '' ? '' : ` (${gpu_type})`;
  return [
    trans.__('%1 vCPU', vcpu),
    formatSize(memory_bytes),
    ...(gpus === 0 ? [] : [`${cards}${type}`])
  ].join(', ');
}

/** A machine of the front, with what is expected of it. */
export function pointText(point: IPrediction): string {
  return [
    shareText(point.resources),
    `${formatDuration(point.seconds)} (${spanOf(point.low_seconds, point.high_seconds, formatDuration)})`,
    `${formatMoney(point.cost_usd)} (${spanOf(point.low_cost_usd, point.high_cost_usd, formatMoney)})`,
    ...(point.is_vague === true ? [trans.__('too uncertain to decide by')] : [])
  ].join(' · ');
}

/** How many jobs it would be. */
export function headOf(plan: IPlan): string {
  const { jobs, at_once } = plan;
  return jobs === 1
    ? trans.__('Plan for 1 job')
    : trans._n(
        'Plan for %2 job, %3 at once',
        'Plan for %2 jobs, %3 at once',
        jobs,
        jobs.toLocaleString('en-US'),
        at_once.toLocaleString('en-US')
      );
}

function inputText(one: IPlannedInput): string {
  const name = one.file_set ?? trans.__('several laid together');
  const count = one.file_count;
  const values = [
    count.toLocaleString('en-US'),
    name,
    formatSize(one.size_bytes)
  ];
  return one.is_there
    ? trans._n(
        '%3 (%2 file, %4, already there)',
        '%3 (%2 files, %4, already there)',
        count,
        ...values
      )
    : trans._n(
        '%3 (%2 file, %4, to be fetched)',
        '%3 (%2 files, %4, to be fetched)',
        count,
        ...values
      );
}

function machineText(plan: IPlan): string {
  const place = PLACES[plan.runner]?.() ?? plan.runner;
  return trans.__(
    '%1 on %2, %3 per hour',
    shareText(plan.resources),
    place,
    formatMoney(plan.usd_per_hour)
  );
}

function expectedText(plan: IPlan): string {
  const one = plan.expected;
  if (!isGiven(one)) {
    return trans.__('not known: no such job has finished yet');
  }
  const parts = [
    middleText(one),
    trans._n(
      'from %2 earlier run',
      'from %2 earlier runs',
      one.runs,
      one.runs.toLocaleString('en-US')
    )
  ];
  if (isGiven(one.borrowed_from) && one.borrowed_from !== '') {
    parts.push(trans.__('with the experience of %1', one.borrowed_from));
  }
  if (one.is_vague === true) {
    parts.push(trans.__('too uncertain to decide by'));
  }
  const { outside = [] } = one;
  if (outside.length > 0) {
    parts.push(trans.__('further than any of them: %1', outside.join('; ')));
  }
  if (plan.jobs > 1) {
    const rounds = Math.ceil(plan.jobs / Math.max(1, plan.at_once));
    const all = formatDuration(one.seconds * rounds);
    const usd = formatMoney(one.cost_usd * plan.jobs);
    parts.push(trans.__('all together about %1, %2', all, usd));
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
  return trans.__('%1 to %2', format(low), format(high));
}

function otherText(one: IOtherMachine): string {
  return `${shareText(one.resources)}: ${formatDuration(one.seconds)}, ${formatMoney(one.cost_usd)}`;
}

function budgetText(one: IBudgetLeft): string {
  const left = one.limit_usd - one.spent_usd;
  const limit = formatMoney(one.limit_usd);
  const spent = formatMoney(one.spent_usd);
  if (left > 0 && one.is_partial) {
    return trans.__(
      '%1: at most %2 of %3 left; %4 spent on jobs that you can see',
      one.name,
      formatMoney(left),
      limit,
      spent
    );
  }
  if (left > 0) {
    return one.spent_usd >= NEARLY * one.limit_usd
      ? trans.__(
          '%1: %2 of %3 left; %4 spent, which is nearly all',
          one.name,
          formatMoney(left),
          limit,
          spent
        )
      : trans.__(
          '%1: %2 of %3 left; %4 spent',
          one.name,
          formatMoney(left),
          limit,
          spent
        );
  }
  return one.stops
    ? trans.__(
        '%1: nothing of %2 left; %3 spent, and jobs are refused and stopped',
        one.name,
        limit,
        spent
      )
    : trans.__(
        '%1: nothing of %2 left; %3 spent, and jobs go on all the same',
        one.name,
        limit,
        spent
      );
}

function startText(plan: IPlan, now: Date): string {
  const { waiting } = plan;
  if (!isGiven(waiting)) {
    return trans.__('at once');
  }
  if (!isGiven(waiting.starts_at)) {
    return waiting.sentence;
  }
  const seconds = (Date.parse(waiting.starts_at) - now.getTime()) / 1000;
  return trans.__(
    'in about %1. %2',
    formatDuration(Math.max(0, seconds)),
    waiting.sentence
  );
}
