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

type Said = Map<string, string>;
type Reader = (whole: IWhole) => Said;

/** What can be said of two jobs, in the order in which people ask: what became of them, then what they were given. */
export function compareJobs(before: IWhole, after: IWhole): IComparedRow[] {
  return GROUPS.flatMap(([title, read]) => {
    const group = title();
    const [left, right] = [read(before), read(after)];
    const names = new Set([...left.keys(), ...right.keys()]);
    return [...names].map(name => {
      const [one, other] = [left.get(name) ?? '', right.get(name) ?? ''];
      return { group, name, before: one, after: other, isSame: one === other };
    });
  });
}

const GROUPS: readonly (readonly [() => string, Reader])[] = [
  [() => trans.__('outcome'), outcomeOf],
  [() => trans.__('metrics'), ({ job }) => valuesOf(job.attributes ?? {})],
  [() => trans.__('parameters'), ({ job }) => valuesOf(job.parameters)],
  [() => trans.__('inputs'), inputsOf],
  [() => trans.__('code'), codeOf],
  [() => trans.__('environment'), environmentOf],
  [() => trans.__('resources'), resourcesOf]
];

function outcomeOf({ job }: IWhole): Said {
  const last = lastAttempt(job);
  const cost = costOf(job);
  return said({
    [trans.__('state')]: job.state,
    [trans.__('reason')]: job.reason,
    [trans.__('run time')]: isGiven(last?.run_seconds)
      ? formatDuration(last.run_seconds)
      : '',
    [trans.__('billed time')]: isGiven(last?.billed_seconds)
      ? formatDuration(last.billed_seconds)
      : '',
    [trans.__('cost')]: cost === null ? '' : formatMoney(cost),
    [trans.__('output')]: job.output ?? '',
    [trans.__('tags')]: (job.tags ?? []).join(', ')
  });
}

/** An input is told by its set, so that two versions of one stand side by side. */
function inputsOf({ job }: IWhole): Said {
  const found: Said = new Map();
  for (const input of job.inputs) {
    const [name = input] = input.split(':');
    const before = found.get(oneLine(name));
    found.set(
      oneLine(name),
      oneLine(before === undefined ? input : `${before}, ${input}`)
    );
  }
  return found;
}

function codeOf({ job }: IWhole): Said {
  const { command } = job;
  return said({
    [trans.__('command')]:
      typeof command === 'string' ? command : command.join(' '),
    [trans.__('files')]: job.code ?? '',
    [trans.__('variables')]: job.variables ?? ''
  });
}

function environmentOf({ asked }: IWhole): Said {
  const found: Said = new Map();
  flatten('', asked.environment, found);
  for (const [key, value] of Object.entries(asked.request.environment ?? {})) {
    found.set(oneLine(`$${key}`), oneLine(value));
  }
  if (isGiven(asked.request.image)) {
    found.set(trans.__('image'), oneLine(asked.request.image));
  }
  return found;
}

function resourcesOf({ job, asked }: IWhole): Said {
  const { vcpu, memory_bytes, gpus } = job.resources;
  const { request } = asked;
  return said({
    [trans.__('vCPU')]: String(vcpu ?? 1),
    [trans.__('memory')]: isGiven(memory_bytes) ? formatSize(memory_bytes) : '',
    [trans.__('GPUs')]: isGiven(gpus) && gpus > 0 ? String(gpus) : '',
    [trans.__('machine')]: lastAttempt(job)?.machine ?? '',
    [trans.__('time limit')]: isGiven(request.time_limit_seconds)
      ? formatDuration(request.time_limit_seconds)
      : '',
    [trans.__('retries')]: String(request.retries ?? 0)
  });
}

function valuesOf(values: { [key: string]: Value }): Said {
  const found: Said = new Map();
  for (const [key, value] of Object.entries(values)) {
    found.set(oneLine(key), formatValue(key, value));
  }
  return found;
}

function said(words: { [name: string]: string }): Said {
  return new Map(
    Object.entries(words)
      .filter(([, text]) => text !== '')
      .map(([name, text]) => [name, oneLine(text)])
  );
}

function flatten(name: string, value: unknown, into: Said): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [key, inner] of Object.entries(value)) {
      flatten(name === '' ? key : `${name}.${key}`, inner, into);
    }
    return;
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  into.set(oneLine(name), oneLine(text).slice(0, 200));
}
