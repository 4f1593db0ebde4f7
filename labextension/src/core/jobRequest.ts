import type { ICreateJob, IPlanJob, IResourceLimits } from '../contract';
import { formatSize } from './format';
import {
  faultOf,
  type ParameterValue,
  readAmount,
  readConfidence,
  readParameter,
  readSize,
  readSweep,
  readTime
} from './optionValues';
import { type IRunOption, optionsFor, type RunLine } from './runLine';
import { nameOf } from './specText';
import { trans } from './translation';

/** Where a line stands, as far as jobs of it are told apart by that. */
export interface IPlace {
  /** The notebook's file, without its folder. */
  readonly notebook: string;
  readonly cell: string;
}

/** What a machine is to be chosen by, in place of a share that is named. */
export interface IBounds {
  readonly profile: string;
  readonly max_seconds: number | null;
  readonly max_cost_usd: number | null;
  readonly confidence: number | null;
}

/** What a line asks for. */
export interface IAsked {
  readonly body: IPlanJob;
  /** Null where the line names its machine itself. */
  readonly bounds: IBounds | null;
  /** By the names of options: what is wrong with what they are given. */
  readonly faults: ReadonlyMap<string, string>;
}

const MIB = 2 ** 20;
const DEFAULT_MEMORY = 1024 * MIB;
const LONGEST_TEMPLATE = 300;
const STEP = 256 * MIB;
/** By so much a number that is written in decimals may miss. */
const TINY = 1e-6;

/** Read a line as the question what its job would be. Code is left out: only a kernel knows what goes along. */
export function askedBy(
  line: RunLine,
  place: IPlace,
  limits: IResourceLimits
): IAsked {
  const faults = faultsOf(line);
  addLimits(line, limits, faults);
  if (faults.size > 0) {
    return { body: { job: { command: ['-'] } }, bounds: null, faults };
  }
  const sweeps = line.values('sweep').map(readSweep);
  const parameters = line.values('p').map(readParameter);
  const names = [...parameters, ...sweeps].map(([name]) => name);
  const command = commandOf(line);
  const job: ICreateJob = {
    command,
    inputs: line.values('input').map(specOf),
    output: line.values('output')[0] ?? null,
    parameters: Object.fromEntries<ParameterValue>(parameters),
    resources: resourcesOf(line, limits),
    memory_as_used: !line.has('memory'),
    image: line.values('image')[0] ?? null,
    nodes: numberIn(line, 'nodes', 1),
    time_limit_seconds: seconds(line, 'time-limit'),
    retries: numberIn(line, 'retries', 2),
    priority: numberIn(line, 'priority', 0),
    template: templateOf(line, place, names)
  };
  const values = Object.fromEntries(sweeps);
  return { body: { job, values }, bounds: boundsOf(line), faults };
}

/** All that can be seen to be wrong before anybody is asked. */
export function faultsOf(line: RunLine): Map<string, string> {
  const faults = new Map<string, string>();
  for (const option of optionsFor(line.kind)) {
    const fault = faultIn(line, option);
    if (fault !== '') {
      faults.set(option.name, fault);
    }
  }
  addTwice(line, faults);
  addBounds(line, faults);
  if (line.kind === 'submit' && line.others.length + line.args.length === 0) {
    faults.set(
      '',
      trans.__('The line names no script: %1', '%acai submit train.py')
    );
  }
  return faults;
}

function faultIn(line: RunLine, option: IRunOption): string {
  const { name, flag, words } = option;
  const values = line.values(name);
  if (words !== 'none' && line.has(name) && values.length === 0) {
    return trans.__('%1 is followed by its value.', flag);
  }
  if (name === 'input') {
    return values.map(specFault).find(fault => fault !== '') ?? '';
  }
  return (
    values.map(value => faultOf(option, value)).find(fault => fault !== '') ??
    ''
  );
}

function addTwice(line: RunLine, faults: Map<string, string>): void {
  const seen = new Set<string>();
  for (const option of ['p', 'sweep']) {
    for (const word of line.values(option)) {
      const [name = ''] = word.split('=');
      if (seen.has(name) && !faults.has(option)) {
        faults.set(option, trans.__('%1 is given twice.', name));
      }
      seen.add(name);
    }
  }
}

const BOUNDS = ['max-time', 'max-cost'];

function addBounds(line: RunLine, faults: Map<string, string>): void {
  const [bound] = BOUNDS.filter(name => line.has(name));
  if (bound === undefined) {
    if (line.has('confidence') && !faults.has('confidence')) {
      faults.set(
        'confidence',
        trans.__(
          'It is how sure to keep within --max-time or --max-cost; name one.'
        )
      );
    }
    return;
  }
  if (!line.has('profile')) {
    faults.set(
      'profile',
      trans.__(
        '%1 chooses the machine by earlier runs; name their profile.',
        `--${bound}`
      )
    );
  }
  if (line.has('sweep')) {
    faults.set(
      bound,
      trans.__('It chooses the machine of one job, and a sweep has many.')
    );
  }
}

/** What no machine here has, said before it is asked for: who types 512Mi has written 5 on the way. */
function addLimits(
  line: RunLine,
  limits: IResourceLimits,
  faults: Map<string, string>
): void {
  const vcpu = { low: 0.5, high: 8, step: 0.5 };
  const { min_vcpu: low = vcpu.low, max_vcpu: high = vcpu.high } = limits;
  const step = limits.vcpu_step ?? vcpu.step;
  const [cpu] = line.values('cpu');
  if (cpu !== undefined && !faults.has('cpu')) {
    const steps = readAmount(cpu) / step;
    const isStep = Math.abs(steps - Math.round(steps)) < TINY;
    if (!isStep || Number(cpu) < low || Number(cpu) > high) {
      faults.set(
        'cpu',
        trans.__(
          '%1 vCPU cannot be had: a job has %2 to %3 vCPU, in steps of %4.',
          cpu,
          low,
          high,
          step
        )
      );
    }
  }
  for (const name of ['memory', 'max-memory']) {
    const fault = faults.has(name) ? '' : memoryFault(line, name, limits);
    if (fault !== '') {
      faults.set(name, fault);
    }
  }
}

function memoryFault(
  line: RunLine,
  name: string,
  limits: IResourceLimits
): string {
  const [text] = line.values(name);
  if (text === undefined) {
    return '';
  }
  const least = limits.min_memory_bytes ?? 512 * MIB;
  const most = limits.max_memory_bytes ?? 8192 * MIB;
  const bytes = readSize(text);
  const rounded = roundedUp(bytes, limits);
  if (rounded >= least && rounded <= most) {
    return '';
  }
  const sizes = [bytes, least, most].map(formatSize);
  return bytes < MIB
    ? trans.__(
        '%1 cannot be had: a job has %2 to %3 of memory; a number without a unit is bytes, write it like 512Mi or 4Gi.',
        ...sizes
      )
    : trans.__('%1 cannot be had: a job has %2 to %3 of memory.', ...sizes);
}

/** The next size that can be had. */
function roundedUp(bytes: number, limits: IResourceLimits): number {
  const step = limits.memory_step_bytes ?? STEP;
  return Math.ceil(bytes / step) * step;
}

/** What is wrong with the beginning of a spec; the server knows the rest. */
function specFault(spec: string): string {
  return spec.includes('/') && !/^[/@]/.test(spec)
    ? trans.__(
        "'%1' is no spec: a path begins with '/', and before a file set stands '@'.",
        spec
      )
    : '';
}

function specOf(spec: string): string {
  return /^[/@]/.test(spec) ? spec : `@${spec}`;
}

function commandOf(line: RunLine): string | string[] {
  const script = scriptOf(line);
  if (script !== null) {
    return [...script, ...line.args];
  }
  if (line.kind === 'cell') {
    return ['cell.py'];
  }
  return line.args.length === 1 ? (line.args[0] ?? '') : line.args;
}

/** A script and what it is given; null where there is none. */
function scriptOf(line: RunLine): string[] | null {
  const words = line.kind === 'cell' ? line.values('script') : line.scripts;
  const [script] = words;
  if (script === undefined) {
    return null;
  }
  const name = line.has('code') ? script : nameOf(script);
  return [name, ...words.slice(1)];
}

/** What makes runs comparable, as the side that submits says it. Empty where the server decides by the command. */
function templateOf(
  line: RunLine,
  place: IPlace,
  names: readonly string[]
): string {
  const [profile] = line.values('profile');
  if (profile !== undefined) {
    return profile;
  }
  const listed = [...new Set(names)].sort().join(', ');
  const script = scriptOf(line)?.[0];
  if (script?.endsWith('.ipynb') === true) {
    return `${nameOf(script)} (${listed})`.slice(0, LONGEST_TEMPLATE);
  }
  return line.kind === 'cell' && script === undefined && place.cell !== ''
    ? `${place.notebook}#${place.cell} (${listed})`.slice(0, LONGEST_TEMPLATE)
    : '';
}

function resourcesOf(
  line: RunLine,
  limits: IResourceLimits
): ICreateJob['resources'] {
  const sized = (name: string) => {
    const [text] = line.values(name);
    return text === undefined ? null : roundedUp(readSize(text), limits);
  };
  return {
    vcpu: readAmount(line.values('cpu')[0] ?? '1'),
    memory_bytes: sized('memory') ?? DEFAULT_MEMORY,
    max_memory_bytes: sized('max-memory'),
    gpus: numberIn(line, 'gpu', 0),
    gpu_type: line.values('gpu-type')[0] ?? ''
  };
}

function boundsOf(line: RunLine): IBounds | null {
  if (!BOUNDS.some(name => line.has(name))) {
    return null;
  }
  const [cost] = line.values('max-cost');
  const [confidence] = line.values('confidence');
  return {
    profile: line.values('profile')[0] ?? '',
    max_seconds: seconds(line, 'max-time'),
    max_cost_usd: cost === undefined ? null : readAmount(cost),
    confidence: confidence === undefined ? null : readConfidence(confidence)
  };
}

function seconds(line: RunLine, name: string): number | null {
  const [text] = line.values(name);
  return text === undefined ? null : readTime(text);
}

function numberIn(line: RunLine, name: string, usual: number): number {
  return Number(line.values(name)[0] ?? usual);
}
