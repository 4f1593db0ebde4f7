import type { ICreateJob } from '../contract';
import { isGiven } from './given';
import { sizeOf } from './jobLines';
import {
  BadValue,
  readAmount,
  readParameter,
  readSize,
  readTime
} from './optionValues';

/** What of a job can be other when it is run again, as it is typed. */
export interface IDraft {
  name: string;
  /** One on each line, as are parameters. */
  inputs: string;
  parameters: string;
  output: string;
  cpu: string;
  memory: string;
  timeLimit: string;
}

export type DraftField = keyof IDraft;
export const DRAFT_FIELDS: readonly DraftField[] = [
  'name',
  'inputs',
  'parameters',
  'output',
  'cpu',
  'memory',
  'timeLimit'
];

type Parameter = string | number | boolean;

/** Of which field it is what is wrong. */
export class BadField extends Error {
  constructor(
    readonly field: DraftField,
    message: string
  ) {
    super(message);
  }
}

/** The job as it was asked for; what is left to the server is empty. */
export function draftOf(request: ICreateJob): IDraft {
  const { resources = {}, parameters = {} } = request;
  const { vcpu, memory_bytes: memory } = resources;
  const isLeft = request.memory_as_used === true || memory === undefined;
  const seconds = request.time_limit_seconds;
  return {
    name: request.name ?? '',
    inputs: (request.inputs ?? []).join('\n'),
    parameters: Object.entries(parameters).map(written).join('\n'),
    output: request.output ?? '',
    cpu: vcpu === undefined ? '' : String(vcpu),
    memory: isLeft ? '' : sizeOf(memory),
    timeLimit: isGiven(seconds) ? `${seconds}s` : ''
  };
}

/** The same job but for what was typed over. Throws a `BadField`. */
export function changedRequest(request: ICreateJob, draft: IDraft): ICreateJob {
  const before = draftOf(request);
  const is = (field: DraftField) =>
    draft[field].trim() !== before[field].trim();
  const resources = { ...request.resources };
  if (is('cpu')) {
    resources.vcpu = read('cpu', () => readAmount(draft.cpu));
  }
  if (is('memory')) {
    resources.memory_bytes = read('memory', () => readSize(draft.memory));
  }
  const limit = draft.timeLimit.trim();
  return {
    ...request,
    name: draft.name.trim(),
    inputs: linesOf(draft.inputs),
    parameters: read('parameters', () =>
      parametersOf(draft.parameters, request.parameters ?? {})
    ),
    output: draft.output.trim() === '' ? null : draft.output.trim(),
    resources,
    ...(is('memory') ? { memory_as_used: false } : {}),
    ...(is('timeLimit')
      ? {
          time_limit_seconds:
            limit === '' ? null : read('timeLimit', () => readTime(limit))
        }
      : {})
  };
}

/** What nobody has typed over keeps its type: `true` is no text. */
function parametersOf(
  text: string,
  before: { [name: string]: Parameter }
): { [name: string]: Parameter } {
  const kept = new Map(
    Object.entries(before).map(one => [written(one).trim(), one])
  );
  return Object.fromEntries(
    linesOf(text).map(line => kept.get(line) ?? readParameter(line))
  );
}

function written([name, value]: [string, Parameter]): string {
  return `${name}=${String(value)}`;
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '');
}

function read<T>(field: DraftField, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof BadValue
      ? new BadField(field, error.message)
      : error;
  }
}
