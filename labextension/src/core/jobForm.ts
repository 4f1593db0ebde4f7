import type {
  IPlan,
  IPlanJob,
  IPrediction,
  IProvision,
  IProvisionJob,
  IResourceLimits
} from '../contract';
import { asAcaiError } from './connectionStore';
import type { AcaiError } from './errors';
import { isGiven } from './given';
import { sizeOf } from './jobLines';
import {
  askedBy,
  faultsOf,
  type IAsked,
  type IBounds,
  type IPlace
} from './jobRequest';
import { type IFoundLine, jobLineIn, withLine } from './jobLine';
import { type IOffering, offersFor } from './optionOffers';
import { type IRunOption, optionsFor, RunLine } from './runLine';
import { UnreadableLine } from './shellWords';

/** What a form asks of the server. `project` is the one that the line names; empty for the usual one. */
export interface IPlanning extends IOffering {
  limits(): Promise<IResourceLimits>;
  plan(project: string, body: IPlanJob): Promise<IPlan>;
  provision(project: string, body: IProvisionJob): Promise<IProvision>;
}

/** Who types waits no longer than this for a plan. */
const PAUSE_MS = 300;
/** An error about what is not one option's. */
export const WHOLE = '';

/** Which option an error of the server is about; what is none of these is about the whole. */
const BY_CODE: { [code: string]: string } = {
  bad_spec: 'input',
  bad_path: 'input',
  file_set_not_found: 'input',
  file_not_found: 'input',
  bad_name: 'output',
  profile_not_found: 'profile',
  model_not_found: 'profile',
  project_not_found: 'project'
};
const BY_WORDS: readonly [RegExp, string][] = [
  [/vCPU/, 'cpu'],
  [/when it ran out/, 'max-memory'],
  [/ of memory/, 'memory'],
  [/\bGPU/, 'gpu'],
  [/parameter/, 'p']
];

/**
 * The options of one cell's line as they are edited, and what would happen. The cell's text is the only truth: an edit is written
 * into it at once, and what is typed there is read here.
 */
export class JobForm {
  constructor(
    private readonly planning: IPlanning,
    private readonly place: IPlace,
    private readonly write: (source: string) => void,
    private readonly pauseMs = PAUSE_MS
  ) {}

  /** Null when the cell has no such line any more, or one that cannot be read. */
  get line(): RunLine | null {
    return this._line;
  }

  /** What would happen by the line as it is, or was when `isStale`. */
  get plan(): IPlan | null {
    return this._plan;
  }

  get isStale(): boolean {
    return this._isStale;
  }

  /** The machines to choose among, from the cheapest on; none where runs do not tell. */
  get front(): readonly IPrediction[] {
    return this._front;
  }

  /** Why there are no larger ones among them; empty where nothing keeps them out. */
  get bound(): string {
    return this._bound;
  }

  /** Which of them the line asks for; -1 for another. */
  get chosen(): number {
    if (this.picked !== null) {
      return this.picked;
    }
    const { resources } = this._plan ?? {};
    return this._front.findIndex(
      ({ resources: one }) =>
        one.vcpu === resources?.vcpu &&
        one.memory_bytes === resources?.memory_bytes
    );
  }

  get options(): IRunOption[] {
    return this._line === null ? [] : optionsFor(this._line.kind);
  }

  /** Whether nothing speaks against running it. */
  get isReady(): boolean {
    return (
      this._line !== null &&
      this.faults.size === 0 &&
      faultsOf(this._line).size === 0
    );
  }

  /** What is wrong with an option, or with the whole; empty where nothing is. */
  fault(name: string): string {
    return this.faults.get(name) ?? '';
  }

  /** What stands in the field of an option: several values on a line each. */
  text(option: IRunOption): string {
    return this.drafts.get(option.name) ?? this.written(option);
  }

  isOn(option: IRunOption): boolean {
    return this._line?.has(option.name) === true;
  }

  /** The cell holds this now. */
  read(source: string): void {
    if (source === this.source) {
      return;
    }
    this.source = source;
    const before = this.found?.text;
    this.readLine();
    for (const option of this.options) {
      const draft = this.drafts.get(option.name);
      if (draft !== undefined && !this.says(option, draft)) {
        this.drafts.delete(option.name);
      }
    }
    if (this.found?.text !== before) {
      this.askSoon();
    }
    this.emit();
  }

  edit(option: IRunOption, text: string): void {
    this.drafts.set(option.name, text);
    this.picked = null;
    this.change(line => line.with(option, valuesIn(option, text)));
  }

  turn(option: IRunOption, isOn: boolean): void {
    this.change(line => line.withFlag(option, isOn));
  }

  /** What an option could be whose value begins so. */
  offers(option: IRunOption, word: string): Promise<string[]> {
    const project = this._line?.values('project')[0] ?? '';
    return offersFor(option.name, word, project, this.planning);
  }

  /** Take a machine of the front: its share is named, in place of what it was chosen by. */
  choose(index: number): void {
    const point = this._front[index];
    if (point === undefined) {
      return;
    }
    const { vcpu = 1, memory_bytes = 0 } = point.resources;
    const wanted: { [name: string]: string[] } = {
      cpu: [String(vcpu)],
      memory: [sizeOf(memory_bytes)],
      'max-time': [],
      'max-cost': [],
      confidence: []
    };
    for (const name of Object.keys(wanted)) {
      this.drafts.delete(name);
    }
    this.picked = index;
    this.change(line =>
      this.options.reduce(
        (changed, option) =>
          option.name in wanted
            ? changed.with(option, wanted[option.name] ?? [])
            : changed,
        line
      )
    );
  }

  /** Ask again, as after an error. */
  askSoon(): void {
    this.question += 1;
    this._isStale = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.ask(), this.pauseMs);
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Safe to call twice. */
  dispose(): void {
    this.question += 1;
    clearTimeout(this.timer);
    this.listeners.clear();
  }

  private change(how: (line: RunLine) => RunLine): void {
    const { _line: line, found } = this;
    if (line === null || found === null) {
      return;
    }
    const changed = how(line);
    if (changed !== line) {
      const source = withLine(this.source, found, changed.text);
      this.source = source;
      this.readLine();
      this.write(source);
      this.askSoon();
    }
    this.emit();
  }

  private readLine(): void {
    this.found = jobLineIn(this.source);
    this.unreadable = '';
    try {
      this._line =
        this.found === null
          ? null
          : RunLine.read(this.found.text, this.found.kind);
    } catch (error) {
      if (!(error instanceof UnreadableLine)) {
        throw error;
      }
      this._line = null;
      this.unreadable = error.message;
    }
  }

  private async ask(): Promise<void> {
    const question = this.question;
    const isCurrent = () => question === this.question;
    const line = this._line;
    if (line === null) {
      this.settle(new Map([[WHOLE, this.unreadable]]));
      return;
    }
    try {
      const limits = await this.planning.limits();
      const asked = askedBy(line, this.place, limits);
      if (!isCurrent()) {
        return;
      }
      if (asked.faults.size > 0) {
        this.settle(asked.faults);
        return;
      }
      const project = line.values('project')[0] ?? '';
      const answer = await this.answer(project, asked);
      if (isCurrent()) {
        this._plan = answer.plan;
        this.picked = null;
        this._front = answer.front;
        this._bound = answer.bound;
        this._isStale = false;
        this.settle(answer.faults);
      }
    } catch (error) {
      if (isCurrent()) {
        this.settle(refusedBy(asAcaiError(error), line));
      }
    }
  }

  private async answer(
    project: string,
    { body, bounds }: IAsked
  ): Promise<{
    plan: IPlan;
    front: readonly IPrediction[];
    bound: string;
    faults: ReadonlyMap<string, string>;
  }> {
    const { parameters, nodes = 1 } = body.job;
    if (bounds !== null) {
      const { profile, ...within } = bounds;
      const asked = { template: profile, parameters, nodes, ...within };
      const found = await this.planning.provision(project, asked);
      const { resources } = found.chosen ?? found.nearest;
      const job = { ...body.job, resources, memory_as_used: false };
      const plan = await this.planning.plan(project, { ...body, job });
      const faults = found.chosen === null ? refusalOf(found, bounds) : [];
      const { front, bound = '' } = found;
      return { plan, front, bound, faults: new Map(faults) };
    }
    const plan = await this.planning.plan(project, body);
    const machines = await this.machinesFor(project, plan, {
      parameters,
      nodes
    });
    return { plan, ...machines, faults: new Map() };
  }

  /** Without it the plan is still a plan: runs that tell of one time need not tell of machines. */
  private async machinesFor(
    project: string,
    plan: IPlan,
    wanted: Pick<IProvisionJob, 'parameters' | 'nodes'>
  ): Promise<{ front: readonly IPrediction[]; bound: string }> {
    if (!isGiven(plan.expected) || plan.jobs > 1) {
      return { front: [], bound: '' };
    }
    try {
      const asked = { template: plan.template, ...wanted };
      const found = await this.planning.provision(project, asked);
      return { front: found.front, bound: found.bound ?? '' };
    } catch {
      return { front: [], bound: '' };
    }
  }

  private settle(faults: ReadonlyMap<string, string>): void {
    this.faults = faults;
    this.emit();
  }

  private says(option: IRunOption, text: string): boolean {
    return valuesIn(option, text).join('\n') === this.written(option);
  }

  private written(option: IRunOption): string {
    return (this._line?.values(option.name) ?? []).join('\n');
  }

  private emit(): void {
    for (const listener of [...this.listeners]) {
      listener();
    }
  }

  private source = '';
  private found: IFoundLine | null = null;
  private _line: RunLine | null = null;
  private unreadable = '';
  private _plan: IPlan | null = null;
  private _isStale = true;
  private _front: readonly IPrediction[] = [];
  private _bound = '';
  private faults: ReadonlyMap<string, string> = new Map();
  /** What was chosen since the plan was asked for. */
  private picked: number | null = null;
  private readonly drafts = new Map<string, string>();
  private readonly listeners = new Set<() => void>();
  private question = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
}

/** Besides the end of a line in a field: Python ends lines there too, and a job's line is one. */
// eslint-disable-next-line no-control-regex -- these are what is looked for
const LINE_ENDS = /[\v\f\x1c-\x1e\x85\u2028\u2029]/g;

/** What stands in a field, as values: one for each line where there can be several. */
export function valuesIn(option: IRunOption, text: string): string[] {
  const line = text.replace(LINE_ENDS, ' ');
  const parts = takesSeveral(option) ? line.split('\n') : [line];
  return parts.map(one => one.trim()).filter(one => one !== '');
}

export function takesSeveral(option: IRunOption): boolean {
  return option.repeats || option.words === 'many';
}

function refusalOf(found: IProvision, bounds: IBounds): [string, string][] {
  const { sentence } = found;
  const name = bounds.max_seconds === null ? 'max-cost' : 'max-time';
  const said = `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;
  return [[name, said.endsWith('.') ? said : `${said}.`]];
}

function refusedBy(error: AcaiError, line: RunLine): Map<string, string> {
  const found =
    BY_CODE[error.code] ??
    BY_WORDS.find(([words]) => words.test(error.message))?.[1] ??
    WHOLE;
  const isThere = found === 'memory' || line.has(found);
  return new Map([[isThere ? found : WHOLE, error.message]]);
}
