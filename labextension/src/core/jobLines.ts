import type { ICreateJob, IJobRequest } from '../contract';
import { isGiven } from './given';
import { quoted } from './shellWords';

/** What a job was asked for, as one would write it: on a shell's line, above a cell, and in Python. */
export interface IJobLines {
  shell: string;
  cell: string;
  python: string;
}

type Option = [name: string, value: string | number | boolean | string[]];

const MEMORY = 1024 ** 3;
const RETRIES = 2;

/** `project` is empty where it goes without saying. */
export function linesOf(asked: IJobRequest, project = ''): IJobLines {
  const { request } = asked;
  const options: Option[] = [
    ...optionsOf(request),
    ...(project === '' ? [] : [['project', project] satisfies Option])
  ];
  const { script, words } = programOf(request);
  return {
    shell: [
      'acai submit',
      ...(script === null ? [] : [quoted(script)]),
      ...shellOptions(options),
      ...(words.length > 0 ? ['--', ...words.map(quoted)] : [])
    ].join(' '),
    cell: [
      '%%acai run',
      ...shellOptions(options),
      ...(request.as_cell === true || script === null
        ? []
        : ['--script', ...[script, ...words].map(quoted)])
    ].join(' '),
    python: pythonOf(request, script, words, options)
  };
}

/** The script that was given, if it is one that `submit` knows how to start, and the words behind it. */
function programOf(request: ICreateJob): {
  script: string | null;
  words: string[];
} {
  const { command } = request;
  if (typeof command === 'string') {
    return { script: null, words: [command] };
  }
  const rest = command.filter((word, at) => at !== 1 || word !== '-u');
  const [program = '', script] = rest;
  const isPython = /(?:^|\/)python[\d.]*$/.test(program);
  if (isPython && script !== undefined && /\.(?:py|ipynb)$/.test(script)) {
    return { script, words: rest.slice(2) };
  }
  return { script: null, words: command };
}

/** What is not as it is without saying so. */
function optionsOf(request: ICreateJob): Option[] {
  const { resources = {}, parameters = {} } = request;
  const { vcpu = 1, memory_bytes = MEMORY, gpus = 0 } = resources;
  const most = resources.max_memory_bytes;
  const seconds = request.time_limit_seconds;
  const found: [boolean, Option][] = [
    [(request.inputs ?? []).length > 0, ['input', request.inputs ?? []]],
    [isGiven(request.output), ['output', request.output ?? '']],
    [request.name !== '', ['name', request.name ?? '']],
    ...Object.entries(parameters).map(([name, value]): [boolean, Option] => [
      true,
      ['p', `${name}=${value}`]
    ]),
    ...(request.tags ?? []).map((label): [boolean, Option] => [
      true,
      ['tag', `+${label}`]
    ]),
    [vcpu !== 1, ['cpu', vcpu]],
    [memory_bytes !== MEMORY, ['memory', sizeOf(memory_bytes)]],
    [isGiven(most), ['max-memory', sizeOf(most ?? 0)]],
    [gpus !== 0, ['gpu', gpus]],
    [isGiven(request.image), ['image', request.image ?? '']],
    [isGiven(seconds), ['time-limit', `${seconds ?? 0}s`]],
    [
      (request.retries ?? RETRIES) !== RETRIES,
      ['retries', request.retries ?? 0]
    ],
    [request.retry_failed === true, ['retry-failed', true]],
    [(request.priority ?? 0) !== 0, ['priority', request.priority ?? 0]],
    [
      request.keep_partial === true && request.as_cell !== true,
      ['keep-partial', true]
    ],
    [request.cached === true, ['cached', true]]
  ];
  return found.flatMap(([isSaid, option]) =>
    isSaid && option[1] !== '' ? [option] : []
  );
}

function shellOptions(options: readonly Option[]): string[] {
  return options.flatMap(([name, value]) => {
    const flag = name.length === 1 ? `-${name}` : `--${name}`;
    if (value === true) {
      return [flag];
    }
    const words = Array.isArray(value) ? value : [String(value)];
    return [flag, ...words.map(quoted)];
  });
}

function pythonOf(
  request: ICreateJob,
  script: string | null,
  words: readonly string[],
  options: readonly Option[]
): string {
  const labels = request.tags ?? [];
  const parameters = Object.entries(request.parameters ?? {});
  const pairs = parameters.map(
    ([key, value]) => `${text(key)}: ${literal(value)}`
  );
  const program =
    script === null ? `command=${literal(request.command)}` : text(script);
  const isOnce = (name: string) => name !== 'p' && name !== 'tag';
  return `acai.submit(${[
    program,
    ...(script === null || words.length === 0
      ? []
      : [`args=${literal([...words])}`]),
    ...options
      .filter(([name]) => isOnce(name))
      .map(([name, value]) => `${name.replaceAll('-', '_')}=${literal(value)}`),
    ...(pairs.length > 0 ? [`parameters={${pairs.join(', ')}}`] : []),
    ...(labels.length > 0
      ? [`tag=${literal(labels.map(label => `+${label}`))}`]
      : [])
  ].join(', ')})`;
}

function literal(value: string | number | boolean | readonly string[]): string {
  if (Array.isArray(value)) {
    return `[${value.map(text).join(', ')}]`;
  }
  if (typeof value === 'boolean') {
    return value ? 'True' : 'False';
  }
  return typeof value === 'string' ? text(value) : String(value);
}

/** A text of Python. */
function text(value: string): string {
  return JSON.stringify(value);
}

/** `512Mi`: the largest unit that it is a whole number of. */
export function sizeOf(bytes: number): string {
  const units = ['', 'Ki', 'Mi', 'Gi', 'Ti'];
  let size = bytes;
  let unit = 0;
  while (size % 1024 === 0 && size > 0 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${size}${units[unit] ?? ''}`;
}
