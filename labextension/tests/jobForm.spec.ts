import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type {
  ICounted,
  ICountThings,
  IFindThings,
  IFoundPage,
  IPlan,
  IPlanJob,
  IPrediction,
  IProvision,
  IProvisionJob
} from '../src/contract';
import { AcaiError } from '../src/core/errors';
import { type IPlanning, JobForm, WHOLE } from '../src/core/jobForm';
import { partAt, withPart } from '../src/core/optionOffers';
import type { IRunOption } from '../src/core/runLine';

const GIB = 2 ** 30;

function planOf(body: IPlanJob, changes: Partial<IPlan> = {}): IPlan {
  return {
    jobs: 1,
    template: body.job.template ?? '',
    inputs: [],
    output: body.job.output ?? null,
    resources: body.job.resources ?? {},
    runner: 'process',
    usd_per_hour: 0.05,
    at_once: 1,
    ...changes
  };
}

function pointOf(vcpu: number, seconds: number): IPrediction {
  return {
    resources: { vcpu, memory_bytes: GIB },
    seconds,
    low_seconds: 0.9 * seconds,
    high_seconds: 1.1 * seconds,
    cost_usd: vcpu / 100,
    low_cost_usd: vcpu / 110,
    high_cost_usd: vcpu / 90
  };
}

function provisionOf(changes: Partial<IProvision> = {}): IProvision {
  const [cheap, fast] = [pointOf(1, 60), pointOf(4, 20)];
  return {
    template: 'mnist',
    parameters: {},
    runs: 9,
    version: 'v',
    model: 9,
    chosen: fast,
    nearest: fast,
    neighbours: [],
    front: [cheap, fast],
    machines: 2,
    sentence: 'the cheapest within 30 s',
    latest: 9,
    ...changes
  };
}

const EXPECTED = {
  runs: 9,
  seconds: 60,
  min_seconds: 55,
  max_seconds: 65,
  cost_usd: 0.01,
  min_cost_usd: 0.009,
  max_cost_usd: 0.011
};

/** The server, as far as a form knows it: what it was asked, and what it answers. */
class Planning implements IPlanning {
  readonly asked: [string, IPlanJob][] = [];
  readonly provisions: IProvisionJob[] = [];
  plan_ = (body: IPlanJob): Promise<IPlan> => Promise.resolve(planOf(body));
  provision_ = (): Promise<IProvision> => Promise.resolve(provisionOf());

  limits = () => Promise.resolve({ memory_step_bytes: GIB / 4 });

  plan(project: string, body: IPlanJob): Promise<IPlan> {
    this.asked.push([project, body]);
    return this.plan_(body);
  }

  provision(_: string, body: IProvisionJob): Promise<IProvision> {
    this.provisions.push(body);
    return this.provision_();
  }

  find(project: string, body: IFindThings): Promise<IFoundPage> {
    this.found.push([project, body]);
    const rows = this.sets.map(name => ({
      thing: `${name}:1`,
      values: [name]
    }));
    return Promise.resolve({ kind: body.kind, columns: ['name'], rows });
  }

  count(project: string, body: ICountThings): Promise<ICounted> {
    this.found.push([project, body]);
    const values = ['nap', 'train.py lr', 'nap-2'].map(value => ({
      value,
      count: 1
    }));
    const facets = [{ key: 'template', values }];
    return Promise.resolve({ count: 3, facets });
  }

  readonly found: [string, IFindThings | ICountThings][] = [];
  sets = ['digits', 'digits-2'];
}

/** A form at a cell, of which every change is kept. */
class Cell {
  constructor(source: string) {
    this.form.read(source);
  }

  readonly planning = new Planning();
  readonly sources: string[] = [];
  readonly form = new JobForm(
    this.planning,
    { notebook: 'train.ipynb', cell: 'c1' },
    source => this.sources.push(source)
  );

  option(name: string): IRunOption {
    const found = this.form.options.find(one => one.name === name);
    if (found === undefined) {
      throw new Error(`There is no option ${name}.`);
    }
    return found;
  }

  type(name: string, text: string): void {
    this.form.edit(this.option(name), text);
  }

  get source(): string {
    return this.sources.at(-1) ?? '';
  }

  get job() {
    return this.planning.asked.at(-1)?.[1].job;
  }
}

describe('The options of a cell', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('are written into the cell as they are chosen', () => {
    const cell = new Cell('%%acai run --newer\nx = 1');
    cell.type('input', 'digits:1\n/a b.csv\n');
    cell.type('cpu', '2');
    cell.form.turn(cell.option('cached'), true);
    expect(cell.source).toBe(
      "%%acai run --newer --input digits:1 --input '/a b.csv' --cpu 2 --cached\nx = 1"
    );
    expect(cell.form.text(cell.option('input'))).toBe('digits:1\n/a b.csv\n');
    cell.type('cpu', ' ');
    cell.form.turn(cell.option('cached'), false);
    cell.type('input', '');
    expect(cell.source).toBe('%%acai run --newer\nx = 1');
  });

  it('are what somebody else writes into the cell meanwhile', () => {
    const cell = new Cell('%%acai run --cpu 2');
    cell.type('name', 'net ');
    cell.form.read('%%acai run --cpu 4 --name net\ny');
    expect(cell.form.text(cell.option('cpu'))).toBe('4');
    expect(cell.form.text(cell.option('name'))).toBe('net ');
    cell.type('memory', '2Gi');
    expect(cell.source).toBe('%%acai run --cpu 4 --name net --memory 2Gi\ny');
    cell.form.read('x = 1');
    expect(cell.form.line).toBeNull();
    expect(cell.form.options).toEqual([]);
  });

  it('are asked about once, when nobody types any more', async () => {
    const cell = new Cell(
      '%%acai run -p lr=0.1 --sweep n=1,2 --input @a:1 b\n'
    );
    for (const text of ['1', '12', '123Mi', '1234Mi']) {
      cell.type('memory', text);
      await vi.advanceTimersByTimeAsync(200);
    }
    expect(cell.planning.asked).toEqual([]);
    await vi.advanceTimersByTimeAsync(300);
    expect(cell.planning.asked).toHaveLength(1);
    expect(cell.planning.asked[0]?.[1].values).toEqual({ n: [1, 2] });
    expect(cell.job?.parameters).toEqual({ lr: 0.1 });
    expect(cell.job?.inputs).toEqual(['@a:1', '@b']);
    expect(cell.job?.template).toBe('train.ipynb#c1 (lr, n)');
    expect(cell.job?.resources?.memory_bytes).toBe(1280 * 2 ** 20);
    expect(cell.job?.memory_as_used).toBe(false);
    expect(cell.form.isStale).toBe(false);
  });

  it('have the answer to the last question, however late an older one comes', async () => {
    const cell = new Cell('%%acai run --cpu 1\n');
    const answers: (() => void)[] = [];
    cell.planning.plan_ = body =>
      new Promise(resolve => {
        answers.push(() => {
          resolve(planOf(body));
        });
      });
    await vi.advanceTimersByTimeAsync(300);
    cell.type('cpu', '2');
    await vi.advanceTimersByTimeAsync(300);
    answers[1]?.();
    answers[0]?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(cell.form.plan?.resources.vcpu).toBe(2);
  });

  it('say at their field what is wrong, and are asked about no further', async () => {
    const cell = new Cell(
      `%%acai run --cpu none --memory 1Zi --time-limit 5x -p lr --retries 21 --tag -old --input a/b
--max-time 1m`
    );
    await vi.advanceTimersByTimeAsync(300);
    const fault = (name: string) => cell.form.fault(name);
    expect(fault('cpu')).toBe("'none' is not a number above 0.");
    expect(fault('memory')).toContain('write it like 512Mi');
    expect(fault('time-limit')).toContain('write it like 30s');
    expect(fault('p')).toBe("'lr' is not NAME=VALUE.");
    expect(fault('retries')).toBe("'21' is not a whole number from 0 to 20.");
    expect(fault('input')).toContain("a path begins with '/'");
    expect(cell.planning.asked).toEqual([]);
    expect(cell.form.isReady).toBe(false);
  });

  it('say what no machine has, and ask nobody for it', async () => {
    const cell = new Cell('%%acai run --cpu 0.7 --memory 512\n');
    await vi.advanceTimersByTimeAsync(300);
    expect(cell.form.fault('cpu')).toBe(
      '0.7 vCPU cannot be had: a job has 0.5 to 8 vCPU, in steps of 0.5.'
    );
    expect(cell.form.fault('memory')).toBe(
      '512 B cannot be had: a job has 512 MB to 8 GB of memory; a number without a unit is bytes, write it like 512Mi or 4Gi.'
    );
    cell.type('cpu', '8.5');
    cell.type('memory', '512Mi');
    await vi.advanceTimersByTimeAsync(300);
    expect(cell.form.fault('cpu')).toContain('8.5 vCPU cannot be had');
    expect(cell.form.fault('memory')).toBe('');
    expect(cell.planning.asked).toEqual([]);
  });

  it('say what the server refuses at the field that it is about', async () => {
    const cell = new Cell('%%acai run --input digts --cpu 4\n');
    cell.planning.plan_ = () =>
      Promise.reject(
        new AcaiError('file_set_not_found', 'There is no file set digts.', 404)
      );
    await vi.advanceTimersByTimeAsync(300);
    expect(cell.form.fault('input')).toBe('There is no file set digts.');
    cell.planning.plan_ = () =>
      Promise.reject(
        new AcaiError('job_refused', 'It asks for 4 vCPU; less.', 400)
      );
    cell.type('input', 'digits');
    await vi.advanceTimersByTimeAsync(300);
    expect(cell.form.fault('input')).toBe('');
    expect(cell.form.fault('cpu')).toBe('It asks for 4 vCPU; less.');
    cell.planning.plan_ = () =>
      Promise.reject(new AcaiError('unavailable', 'It is closed.', 503));
    cell.type('cpu', '2');
    await vi.advanceTimersByTimeAsync(300);
    expect(cell.form.fault(WHOLE)).toBe('It is closed.');
  });

  it('that cannot be read are left as they are', async () => {
    const cell = new Cell("%%acai run --name 'net\n");
    await vi.advanceTimersByTimeAsync(300);
    expect(cell.form.fault(WHOLE)).toBe('A quote on the line is not closed.');
    expect(cell.form.options).toEqual([]);
    cell.form.read("%%acai run --name 'net'\n");
    await vi.advanceTimersByTimeAsync(300);
    expect(cell.form.fault(WHOLE)).toBe('');
  });
});

describe('The machine of a cell', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is chosen among those than which none is faster and cheaper', async () => {
    const cell = new Cell('%%acai run --profile mnist --memory 1Gi\n');
    cell.planning.plan_ = body =>
      Promise.resolve(planOf(body, { expected: EXPECTED }));
    await vi.advanceTimersByTimeAsync(300);
    expect(cell.form.front).toHaveLength(2);
    expect(cell.form.chosen).toBe(0);
    cell.form.choose(1);
    expect(cell.form.chosen).toBe(1);
    expect(cell.source).toBe(
      '%%acai run --profile mnist --memory 1Gi --cpu 4\n'
    );
    await vi.advanceTimersByTimeAsync(300);
    expect(cell.form.plan?.resources.vcpu).toBe(4);
    expect(cell.form.chosen).toBe(1);
  });

  it('is not chosen where runs do not tell of machines', async () => {
    const cell = new Cell('%%acai run\n');
    await vi.advanceTimersByTimeAsync(300);
    expect(cell.planning.provisions).toEqual([]);
    cell.planning.plan_ = body =>
      Promise.resolve(planOf(body, { expected: EXPECTED }));
    cell.planning.provision_ = () =>
      Promise.reject(new AcaiError('profile_not_found', 'None.', 404));
    cell.type('cpu', '2');
    await vi.advanceTimersByTimeAsync(300);
    expect(cell.planning.provisions).toHaveLength(1);
    expect(cell.form.front).toEqual([]);
    expect(cell.form.isReady).toBe(true);
  });

  it('is asked for by as many nodes as the line has, and it is said why none is larger', async () => {
    const cell = new Cell('%%acai run --profile mnist --nodes 2\n');
    const bound = 'jobs here can have at most 2 vCPU';
    cell.planning.plan_ = body =>
      Promise.resolve(planOf(body, { expected: EXPECTED }));
    cell.planning.provision_ = () => Promise.resolve(provisionOf({ bound }));
    await vi.advanceTimersByTimeAsync(300);
    expect(cell.planning.provisions).toMatchObject([{ nodes: 2 }]);
    expect(cell.form.bound).toBe(bound);
  });

  it('is the one that the bounds choose, until another is taken', async () => {
    const cell = new Cell(
      '%%acai run --profile mnist --max-time 30s --confidence 0.9\n'
    );
    await vi.advanceTimersByTimeAsync(300);
    expect(cell.planning.provisions).toEqual([
      {
        template: 'mnist',
        parameters: {},
        max_seconds: 30,
        max_cost_usd: null,
        confidence: 0.9,
        nodes: 1
      }
    ]);
    expect(cell.job?.resources?.vcpu).toBe(4);
    cell.form.choose(0);
    expect(cell.source).toBe(
      '%%acai run --profile mnist --cpu 1 --memory 1Gi\n'
    );
  });

  it('is missing where none keeps within the bounds, and says so there', async () => {
    const cell = new Cell('%%acai run --max-time 1s\n');
    await vi.advanceTimersByTimeAsync(300);
    expect(cell.form.fault('profile')).toContain('name their profile');
    cell.planning.provision_ = () =>
      Promise.resolve(
        provisionOf({ chosen: null, sentence: 'no machine is done in 1 s' })
      );
    cell.type('profile', 'mnist');
    await vi.advanceTimersByTimeAsync(300);
    expect(cell.form.fault('max-time')).toBe('No machine is done in 1 s.');
    expect(cell.form.isReady).toBe(false);
    expect(cell.form.plan?.resources.vcpu).toBe(4);
  });
});

describe('what a field offers', () => {
  it('is the names that begin like the line of the cursor, and nothing for paths', async () => {
    const cell = new Cell('%%acai run --project lab');
    const input = cell.option('input');
    expect(await cell.form.offers(input, 'di')).toEqual(['digits', 'digits-2']);
    expect(await cell.form.offers(input, '@di')).toEqual([
      '@digits',
      '@digits-2'
    ]);
    for (const word of ['/data/x', 'digits:3', "x' or y"]) {
      expect(await cell.form.offers(input, word)).toEqual([]);
    }
    expect(cell.planning.found).toHaveLength(2);
    expect(cell.planning.found[0]).toMatchObject([
      'lab',
      { query: "latest = true and name ~ '^di'", limit: 8 }
    ]);
    cell.planning.sets = ['digits'];
    expect(await cell.form.offers(input, 'digits')).toEqual([]);
  });

  it('is profiles with a name, as those of scripts are nobody’s', async () => {
    const cell = new Cell('%%acai run');
    const profile = cell.option('profile');
    expect(await cell.form.offers(profile, 'n.')).toEqual(['nap', 'nap-2']);
    expect(cell.planning.found[0]).toMatchObject([
      '',
      { query: "state = 'finished' and template ~ '^n[.]'" }
    ]);
  });

  it('takes the place of one line of several', () => {
    const text = 'raw:1\ndi\n/x';
    const part = partAt(text, 8);
    expect(part.text).toBe('di');
    expect(withPart(text, part, 'digits')).toBe('raw:1\ndigits\n/x');
  });
});
