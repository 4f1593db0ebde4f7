import type { IJob, IJobRequest } from '../contract';
import { formatDuration, formatMoney, formatSize } from './format';
import { isGiven } from './given';
import { costOf, lastAttempt } from './jobText';
import { oneLine } from './text';
import { trans } from './translation';
import { formatValue, type Value } from './values';

/** A job with all that is needed to run it again. */
export interface IWhole {
  job: IJob;
  asked: IJobRequest;
}

/** One thing that can be said of both; empty where one of them has none. */
export interface IComparedRow {
  group: string;
  name: string;
  before: string;
  after: string;
  isSame: boolean;
}

/** A value for people, and so that it is told from every other. */
interface ISaid {
  words: string;
  exact: string;
  /** With the unit that it is told in where the words are too short. */
  number?: { value: number; unit: string };
}

type Said = Map<string, ISaid>;
type Reader = (whole: IWhole) => Said;
type Writer = (value: number) => string;

const NONE: ISaid = { words: '', exact: '' };
/** Of what is longer the beginning is shown, where that tells both apart. */
const LONGEST = 200;

/** What can be said of two jobs, in the order in which people ask: what became of them, then what they were given. */
export function compareJobs(before: IWhole, after: IWhole): IComparedRow[] {
  return GROUPS.flatMap(([title, read]) => {
    const group = title();
    const [left, right] = [read(before), read(after)];
    const names = new Set([...left.keys(), ...right.keys()]);
    return [...names].map(name => {
      const [one, other] = [left.get(name) ?? NONE, right.get(name) ?? NONE];
      const isSame = one.exact === other.exact;
      const isAlike = !isSame && one.words === other.words;
      const [before, after] = isAlike
        ? toldApart(one, other)
        : [one.words, other.words];
      return { group, name, before, after, isSame };
    });
  });
}

/** In as many digits as it takes, else in full. */
function toldApart(one: ISaid, other: ISaid): [string, string] {
  const [a, b] = [one.number, other.number];
  if (a === undefined || b === undefined || isWhole(a.value, b.value)) {
    return [one.exact, other.exact];
  }
  const digits = DIGITS.find(
    some => a.value.toPrecision(some) !== b.value.toPrecision(some)
  );
  return digits === undefined
    ? [one.exact, other.exact]
    : [told(a, digits), told(b, digits)];
}

const DIGITS = Array.from({ length: 15 }, (_, at) => at + 2);

function told(number: { value: number; unit: string }, digits: number): string {
  return `${Number(number.value.toPrecision(digits))}${number.unit}`;
}

function isWhole(...values: readonly number[]): boolean {
  return values.every(one => Number.isInteger(one));
}

const GROUPS: readonly (readonly [() => string, Reader])[] = [
  [() => trans.__('outcome'), outcomeOf],
  [() => trans.__('metrics'), ({ job }) => valuesOf(job.attributes ?? {})],
  [() => trans.__('parameters'), ({ job }) => valuesOf(job.parameters)],
  [() => trans.__('inputs'), inputsOf],
  [() => trans.__('code'), codeOf],
  [() => trans.__('environment'), environmentOf],
  [() => trans.__('resources'), resourcesOf],
  [() => trans.__('other options'), othersOf]
];

function outcomeOf({ job }: IWhole): Said {
  const last = lastAttempt(job);
  return new Map([
    ...text(trans.__('state'), job.state),
    ...text(trans.__('reason'), job.reason),
    ...number(trans.__('run time'), last?.run_seconds, formatDuration, ' s'),
    ...number(
      trans.__('billed time'),
      last?.billed_seconds,
      formatDuration,
      ' s'
    ),
    ...number(trans.__('cost'), costOf(job), formatMoney, ' USD'),
    ...text(trans.__('output'), job.output),
    ...text(trans.__('tags'), (job.tags ?? []).join(', '))
  ]);
}

/** An input is told by its set, so that two versions of one stand side by side. */
function inputsOf({ job }: IWhole): Said {
  const found = new Map<string, string[]>();
  for (const input of job.inputs) {
    const [name = input] = input.split(':');
    found.set(name, [...(found.get(name) ?? []), input]);
  }
  return new Map(
    [...found].flatMap(([name, sets]) => [...text(name, sets.join(', '))])
  );
}

function codeOf({ job }: IWhole): Said {
  const { command } = job;
  const words = typeof command === 'string' ? command : command.join(' ');
  return new Map([
    [
      trans.__('command'),
      { words: oneLine(words), exact: JSON.stringify(command) }
    ],
    ...text(trans.__('files'), job.code),
    ...text(trans.__('variables'), job.variables)
  ]);
}

function environmentOf({ asked }: IWhole): Said {
  const { environment, image } = asked.request;
  const variables = Object.entries(environment ?? {}).map(
    ([key, value]) => [`$${key}`, value] as const
  );
  return new Map([
    ...flatten('', asked.environment),
    ...variables.flatMap(([key, value]) => [...text(key, value)]),
    ...text(trans.__('image'), image)
  ]);
}

function resourcesOf({ job, asked }: IWhole): Said {
  const { vcpu, memory_bytes, max_memory_bytes, gpus, gpu_type } =
    job.resources;
  const { retries, retry_failed, time_limit_seconds } = asked.request;
  return new Map([
    ...number(trans.__('vCPU'), vcpu ?? 1, String),
    ...number(trans.__('memory'), memory_bytes, formatSize, ' B'),
    ...number(trans.__('memory at most'), max_memory_bytes, formatSize, ' B'),
    ...number(trans.__('GPUs'), gpus === 0 ? null : gpus, String),
    ...text(trans.__('kind of GPU'), gpu_type),
    ...text(trans.__('machine'), lastAttempt(job)?.machine),
    ...number(trans.__('time limit'), time_limit_seconds, formatDuration, ' s'),
    ...number(trans.__('retries'), retries ?? 0, String),
    ...text(
      trans.__('retried when it fails'),
      retry_failed === true ? trans.__('yes') : trans.__('no')
    ),
    ...number(trans.__('priority'), job.priority ?? 0, String)
  ]);
}

/** What else was asked for, by its key: nothing that differs is left out. */
function othersOf({ asked }: IWhole): Said {
  const others = Object.entries(asked.request).filter(
    ([key, value]) => !TOLD.includes(key) && !isEmpty(value)
  );
  const found = flatten('', Object.fromEntries(others));
  if (isOfCell(asked.request.template)) {
    found.delete('template');
  }
  return found;
}

/** The template of a cell is made of the cell's id, which tells nobody anything. */
function isOfCell(template = ''): boolean {
  return template.includes('.ipynb#');
}

/** Told above, or noted by who submits and asked of nobody. */
const TOLD = [
  'attributes',
  'captured',
  'code',
  'command',
  'environment',
  'image',
  'inputs',
  'parameters',
  'priority',
  'resources',
  'retries',
  'retry_failed',
  'tags',
  'time_limit_seconds',
  'variables'
];

function isEmpty(value: unknown): boolean {
  return (
    value === null ||
    value === undefined ||
    value === '' ||
    value === false ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

function valuesOf(values: { [key: string]: Value }): Said {
  return new Map(
    Object.entries(values).map(([key, value]) => [
      oneLine(key),
      typeof value === 'number'
        ? quantity(formatValue(key, value), value, unitOf(key))
        : { words: formatValue(key, value), exact: exactly(value) }
    ])
  );
}

function unitOf(key: string): string {
  const [, unit = ''] = /_(bytes|seconds|usd)$/.exec(key) ?? [];
  return { bytes: ' B', seconds: ' s', usd: ' USD' }[unit] ?? '';
}

function text(name: string, value: string | null | undefined): Said {
  return isGiven(value) && value !== ''
    ? new Map([[oneLine(name), saidOf(value)]])
    : new Map<string, ISaid>();
}

function number(
  name: string,
  value: number | null | undefined,
  write: Writer,
  unit = ''
): Said {
  return isGiven(value)
    ? new Map([[name, quantity(write(value), value, unit)]])
    : new Map<string, ISaid>();
}

function quantity(words: string, value: number, unit: string): ISaid {
  return { words, exact: `${value}${unit}`, number: { value, unit } };
}

function flatten(name: string, value: unknown): Said {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return new Map(
      Object.entries(value).flatMap(([key, inner]) => [
        ...flatten(name === '' ? key : `${name}.${key}`, inner)
      ])
    );
  }
  return new Map([[oneLine(name), saidOf(value)]]);
}

function saidOf(value: unknown): ISaid {
  const words = oneLine(
    typeof value === 'string' ? value : JSON.stringify(value)
  );
  return {
    words: words.length > LONGEST ? `${words.slice(0, LONGEST)}…` : words,
    exact: exactly(value)
  };
}

/** A text stands in quotes, so that it is told from a number. */
function exactly(value: unknown): string {
  return oneLine(JSON.stringify(value));
}
