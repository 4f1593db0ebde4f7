import type { ICreateJob, IJobRequest, ITime } from '../contract';
import { isGiven } from './given';
import { quoted } from './shellWords';
import { trans } from './translation';

/** What a job was asked for, as one would write it: above a cell, on a shell's line, and in Python. */
export interface IJobLines {
  /** A cell, or its first line: what the job ran as one belongs below it. Empty where none can say it. */
  cell: string;
  shell: string;
  python: string;
  /** The file of the job's code that is the cell; empty where the job was none. */
  file: string;
  /** The file that `--env` names; empty where the job has no environment of its own. */
  requirements: string;
  /** What is to be known of them. */
  notes: string[];
}

/** What is not as it is without saying so: on a line, and as an argument of Python. */
interface IOption {
  name: string;
  /** None where the option alone says it. */
  values: string[];
  /** Each value stands behind a flag of its own. */
  repeats?: boolean;
  python: string;
  /** What Python calls it, where that is not the same. */
  keyword?: string;
}

type Program =
  | { kind: 'cell'; file: string; isShell: boolean }
  | { kind: 'script'; script: string; words: string[] }
  | { kind: 'command'; words: string[] };

const RETRIES = 2;
const REQUIREMENTS = 'requirements.txt';
const NOTEBOOK = '.ipynb';
/** What runs scripts that are not Python's. */
const INTERPRETERS: { [program: string]: string } = {
  bash: '.bash',
  julia: '.jl',
  node: '.js',
  perl: '.pl',
  Rscript: '.r',
  ruby: '.rb',
  sh: '.sh'
};

/** `project` is empty where it goes without saying. */
export function linesOf(asked: IJobRequest, project = ''): IJobLines {
  const { request } = asked;
  const program = programOf(request);
  const named = project === '' ? [] : [text('project', project)];
  const options = [...optionsOf(request, program), ...named];
  const isCell = program.kind === 'cell';
  const isOver = onLine(options).some(word => word.includes('\n'));
  return {
    cell: isOver ? '' : cellOf(request, program, options),
    shell: isCell
      ? join('acai replay', String(asked.number), ...onLine(named))
      : shellOf(program, options),
    python: isCell
      ? call('acai.replay', [String(asked.number), ...inPython(named)])
      : pythonOf(program, options),
    file: isCell && !isOver ? program.file : '',
    requirements: request.lock?.requirements ?? '',
    notes: [
      ...(isOver
        ? [
            trans.__(
              'Some of what it was given has several lines, which cannot stand above a cell.'
            )
          ]
        : []),
      ...notesOf(request, isCell)
    ]
  };
}

/** The program as `submit` and `%%acai run` know how to start it; else it is a command. */
function programOf({ command, as_cell: asCell }: ICreateJob): Program {
  if (typeof command === 'string') {
    return { kind: 'command', words: [command] };
  }
  const [program = '', script = '', ...words] = command.filter(
    (word, at) => at !== 1 || word !== '-u'
  );
  const isShell = program === 'sh' && /^_*cell\.sh$/.test(script);
  if ((asCell === true && !script.endsWith(NOTEBOOK)) || isShell) {
    return { kind: 'cell', file: script, isShell };
  }
  const isPython = /(?:^|\/)python[\d.]*$/.test(program);
  const ending = INTERPRETERS[program];
  const isScript = isPython
    ? /\.(?:py|ipynb)$/.test(script)
    : ending !== undefined && script.toLowerCase().endsWith(ending);
  return isScript
    ? { kind: 'script', script, words }
    : { kind: 'command', words: command };
}

function cellOf(
  request: ICreateJob,
  program: Program,
  options: readonly IOption[]
): string {
  const begin = ['%%acai run', ...onLine(options)];
  switch (program.kind) {
    case 'script': {
      const words = [program.script, ...program.words].map(quoted);
      return join(...begin, '--script', ...words);
    }
    case 'cell': {
      const received = (request.receive ?? []).join(',');
      return join(
        ...begin,
        ...(program.isShell ? ['--shell'] : []),
        ...(received === '' ? [] : ['--receive', quoted(received)])
      );
    }
    case 'command': {
      const { words } = program;
      const isText = words.length === 1;
      const below = isText ? words : [words.map(quoted).join(' ')];
      return [join(...begin, '--shell'), ...below].join('\n');
    }
  }
}

function shellOf(
  program: Exclude<Program, { kind: 'cell' }>,
  options: readonly IOption[]
): string {
  const { words } = program;
  return join(
    'acai submit',
    ...(program.kind === 'script' ? [quoted(program.script)] : []),
    ...onLine(options),
    ...(words.length > 0 ? ['--', ...words.map(quoted)] : [])
  );
}

function pythonOf(
  program: Exclude<Program, { kind: 'cell' }>,
  options: readonly IOption[]
): string {
  const { words } = program;
  const [first] = words;
  const begin =
    program.kind === 'script'
      ? [
          literal(program.script),
          ...(words.length > 0 ? [`args=${list(words)}`] : [])
        ]
      : [`command=${words.length === 1 ? literal(first ?? '') : list(words)}`];
  return call('acai.submit', [...begin, ...inPython(options)]);
}

/** In the order in which help lists them. */
function optionsOf(request: ICreateJob, program: Program): IOption[] {
  const { resources = {} } = request;
  const { vcpu = 1, gpus = 0, memory_bytes: memory } = resources;
  const most = resources.max_memory_bytes;
  const seconds = request.time_limit_seconds;
  const retries = request.retries ?? RETRIES;
  const nodes = request.nodes ?? 1;
  const priority = request.priority ?? 0;
  const folder = request.output_folder ?? '';
  const isNotebook =
    program.kind === 'script' && program.script.endsWith(NOTEBOOK);
  const isAsUsed = request.memory_as_used === true || memory === undefined;
  return [
    ...inputsOf(request),
    ...texts('output', request.output),
    ...texts('output-folder', folder === 'output' ? '' : folder),
    ...texts('output-root', request.output_root),
    ...pairs('p', request.parameters ?? {}, 'parameters'),
    ...pairs('env-var', environmentOf(request, program)),
    ...secretsOf(request),
    ...tagsOf(request),
    ...texts('name', request.name),
    ...texts('description', request.description),
    ...(vcpu === 1 ? [] : [number('cpu', vcpu)]),
    ...(isAsUsed ? [] : [text('memory', sizeOf(memory))]),
    ...(isGiven(most) ? [text('max-memory', sizeOf(most))] : []),
    ...(gpus === 0 ? [] : [number('gpu', gpus)]),
    ...texts('gpu-type', resources.gpu_type),
    ...texts('profile', isOwn(request.template ?? '') ? '' : request.template),
    ...(nodes === 1 ? [] : [number('nodes', nodes)]),
    ...texts('image', request.image),
    ...texts('env', isGiven(request.lock) ? REQUIREMENTS : ''),
    ...(isGiven(seconds) ? [text('time-limit', `${seconds}s`)] : []),
    ...(retries === RETRIES ? [] : [number('retries', retries)]),
    ...flag('retry-failed', request.retry_failed),
    ...(priority === 0 ? [] : [number('priority', priority)]),
    ...flag('cached', request.cached),
    // Of a notebook it is kept without saying so.
    ...flag('keep-partial', isNotebook ? false : request.keep_partial)
  ];
}

/** Whether it is what cells and notebooks are called by themselves: `a.ipynb#f3b1 (lr)`, `a.ipynb (lr)`. */
function isOwn(template: string): boolean {
  return /(?:#\S+|\.ipynb) \(.*\)$/.test(template);
}

function inputsOf({ inputs = [] }: ICreateJob): IOption[] {
  return inputs.length === 0
    ? []
    : [{ name: 'input', values: inputs, python: list(inputs) }];
}

/** Commands and scripts for sh look for programs where they were submitted; that is done anew. */
function environmentOf(
  { environment = {} }: ICreateJob,
  program: Program
): { [name: string]: string } {
  const isFound =
    program.kind === 'command' || (program.kind === 'cell' && program.isShell);
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !isFound || name !== 'PATH')
  );
}

function secretsOf({ secrets = {} }: ICreateJob): IOption[] {
  const found = Object.entries(secrets);
  return found.length === 0
    ? []
    : [
        {
          name: 'secret',
          values: found.map(([name, known]) =>
            name === known ? name : `${name}=${known}`
          ),
          repeats: true,
          python: mapping(secrets)
        }
      ];
}

function tagsOf({ attributes = {}, tags = [] }: ICreateJob): IOption[] {
  const values = [
    ...Object.entries(attributes).map(
      ([key, value]) => `${key}=${valueWord(value)}`
    ),
    ...tags.map(label => `+${label}`)
  ];
  return values.length === 0
    ? []
    : [{ name: 'tag', values, repeats: true, python: list(values) }];
}

/** A value as `--tag` reads it; a text that would be read as something else stands in quotes. */
function valueWord(value: string | number | boolean | ITime): string {
  if (typeof value === 'object') {
    return value.time;
  }
  const isPlain =
    typeof value !== 'string' ||
    (/^[A-Za-z_/][^']*$/.test(value) &&
      !/^(?:true|false|nan|inf|infinity)$/i.test(value));
  return isPlain ? String(value) : `'${value.replaceAll("'", "''")}'`;
}

function notesOf(request: ICreateJob, isCell: boolean): string[] {
  return [
    ...(isCell
      ? [
          trans.__(
            'The code of a cell is in no file for a shell or for Python: the lines for these do the recorded job again, and compare what comes of it.'
          )
        ]
      : []),
    ...(isGiven(request.variables)
      ? [
          trans.__(
            'It was sent variables of a notebook: name them behind %1.',
            '--send'
          )
        ]
      : []),
    ...(isGiven(request.lock)
      ? [trans.__('Its environment is built from %1.', REQUIREMENTS)]
      : [])
  ];
}

function texts(name: string, value: string | null | undefined): IOption[] {
  return isGiven(value) && value !== '' ? [text(name, value)] : [];
}

function text(name: string, value: string): IOption {
  return { name, values: [value], python: literal(value) };
}

function number(name: string, value: number): IOption {
  return { name, values: [String(value)], python: String(value) };
}

function flag(name: string, isSaid: boolean | undefined): IOption[] {
  return isSaid === true ? [{ name, values: [], python: 'True' }] : [];
}

function pairs(
  name: string,
  named: { [key: string]: string | number | boolean },
  keyword?: string
): IOption[] {
  const found = Object.entries(named);
  return found.length === 0
    ? []
    : [
        {
          name,
          values: found.map(([key, value]) => `${key}=${String(value)}`),
          repeats: true,
          python: mapping(named),
          keyword
        }
      ];
}

function onLine(options: readonly IOption[]): string[] {
  return options.flatMap(({ name, values, repeats }) => {
    const sign = name.length === 1 ? `-${name}` : `--${name}`;
    if (repeats === true || values.length === 1) {
      return values.flatMap(value => valued(sign, value));
    }
    return [sign, ...values.map(quoted)];
  });
}

/** What begins with a dash would be taken for another option. */
function valued(sign: string, value: string): string[] {
  return value.startsWith('-') && !/^-[\d.]+$/.test(value)
    ? [quoted(`${sign}=${value}`)]
    : [sign, quoted(value)];
}

function inPython(options: readonly IOption[]): string[] {
  return options.map(
    ({ name, keyword, python }) =>
      `${keyword ?? name.replaceAll('-', '_')}=${python}`
  );
}

function call(name: string, words: readonly string[]): string {
  return `${name}(${words.join(', ')})`;
}

function join(...words: string[]): string {
  return words.join(' ');
}

function literal(value: string | number | boolean): string {
  if (typeof value === 'boolean') {
    return value ? 'True' : 'False';
  }
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

function list(values: readonly string[]): string {
  return `[${values.map(literal).join(', ')}]`;
}

function mapping(named: { [key: string]: string | number | boolean }): string {
  const words = Object.entries(named).map(
    ([key, value]) => `${literal(key)}: ${literal(value)}`
  );
  return `{${words.join(', ')}}`;
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
