import { describe, expect, it } from 'vitest';

import type { ICreateJob, IJobRequest, IResources } from '../src/contract';
import { linesOf } from '../src/core/jobLines';
import { RUN_OPTIONS } from '../src/core/runOptions';
import { wordsOf } from '../src/core/shellWords';

function ask(request: ICreateJob): IJobRequest {
  return { number: 7, request, inputs: [], environment: {} };
}

/** A field that comes to the contract has to be given here, and then to be found on the lines. */
const RESOURCES: Required<IResources> = {
  vcpu: 2,
  memory_bytes: 512 * 1024 ** 2,
  gpus: 1,
  max_memory_bytes: 2 * 1024 ** 3,
  gpu_type: 'a100'
};
const WHOLE: Required<ICreateJob> = {
  command: ['/usr/bin/python3', '-u', 'train.py', '--note', "it's"],
  as_cell: false,
  name: 'big one',
  description: '- what it does',
  inputs: ['digits:1', '/dir/@more'],
  code: 'train-code:3',
  code_root: '/train-code',
  variables: 'sent:1',
  variables_root: '/sent',
  receive: ['net', 'loss'],
  output: 'model',
  output_folder: 'made',
  output_root: '/models',
  parameters: { lr: 0.1, deep: true },
  attributes: {
    stage: 'x y',
    code: '007',
    epoch: 3,
    ok: true,
    quote: "a'b",
    at: { time: '2026-11-18T12:00:00Z' }
  },
  tags: ['new'],
  environment: { FOO: 'bar', PATH: '/own' },
  secrets: { TOKEN: 'TOKEN', KEY: 'store-key' },
  resources: RESOURCES,
  memory_as_used: false,
  image: 'python:3.12',
  lock: { requirements: 'numpy==2.0\n', python: '3.12' },
  nodes: 2,
  time_limit_seconds: 90,
  retries: 5,
  retry_failed: true,
  priority: -5,
  keep_partial: true,
  cached: true,
  template: 'training',
  captured: {}
};
const OPTIONS = [
  '--input digits:1 /dir/@more --output model --output-folder made --output-root /models',
  '-p lr=0.1 -p deep=true --env-var FOO=bar --env-var PATH=/own --secret TOKEN --secret KEY=store-key',
  `--tag 'stage=x y' --tag 'code='"'"'007'"'"'' --tag epoch=3 --tag ok=true`,
  `--tag 'quote='"'"'a'"'"''"'"'b'"'"'' --tag at=2026-11-18T12:00:00Z --tag +new`,
  `--name 'big one' '--description=- what it does'`,
  '--cpu 2 --memory 512Mi --max-memory 2Gi --gpu 1 --gpu-type a100 --profile training --nodes 2',
  '--image python:3.12 --env requirements.txt --time-limit 90s --retries 5 --retry-failed --priority -5',
  '--cached --keep-partial'
].join(' ');

describe('A job as one would write it', () => {
  it('has all that it was asked for', () => {
    const lines = linesOf(ask(WHOLE), 'theirs');
    expect(lines.shell).toBe(
      `acai submit train.py ${OPTIONS} --project theirs -- --note 'it'"'"'s'`
    );
    expect(lines.cell).toBe(
      `%%acai run ${OPTIONS} --project theirs --script train.py --note 'it'"'"'s'`
    );
    expect(lines.python).toBe(
      `acai.submit(${[
        '"train.py", args=["--note", "it\'s"], input=["digits:1", "/dir/@more"], output="model"',
        'output_folder="made", output_root="/models", parameters={"lr": 0.1, "deep": True}',
        'env_var={"FOO": "bar", "PATH": "/own"}, secret={"TOKEN": "TOKEN", "KEY": "store-key"}',
        `tag=["stage=x y", "code='007'", "epoch=3", "ok=true", "quote='a''b'", "at=2026-11-18T12:00:00Z", "+new"]`,
        'name="big one", description="- what it does", cpu=2, memory="512Mi", max_memory="2Gi", gpu=1',
        'gpu_type="a100", profile="training", nodes=2, image="python:3.12", env="requirements.txt"',
        'time_limit="90s", retries=5, retry_failed=True, priority=-5, cached=True, keep_partial=True',
        'project="theirs"'
      ].join(', ')})`
    );
    expect(lines.requirements).toBe('numpy==2.0\n');
    expect(lines.notes).toHaveLength(2);
    const long = linesOf(ask({ ...WHOLE, description: 'one\ntwo' }));
    expect(long.cell).toBe('');
    expect(long.notes).toHaveLength(3);
  });

  it('says nothing that there is no option for', () => {
    const known = new Set(RUN_OPTIONS.map(one => one.flag));
    const options = wordsOf(OPTIONS).map(({ value }) => value.split('=')[0]);
    const flags = options.filter(word => /^--?[a-z]/.test(word ?? ''));
    expect(flags.filter(flag => !known.has(flag ?? ''))).toEqual([]);
    expect(flags.length).toBeGreaterThan(25);
  });

  it('is as a line without options where nothing was said', () => {
    const plain = ask({
      command: ['bash', 'train.bash'],
      memory_as_used: true,
      resources: { vcpu: 1, memory_bytes: 1024 ** 3, gpus: 0, gpu_type: '' }
    });
    expect(linesOf(plain).shell).toBe('acai submit train.bash');
    expect(linesOf(plain).python).toBe('acai.submit("train.bash")');
  });

  it('has a command where no script was given, and none of the places where programs were', () => {
    const asked = ask({
      command: 'make all | tee log',
      environment: { PATH: '/usr/bin', FOO: '1' }
    });
    const { shell, cell, python } = linesOf(asked);
    expect(shell).toBe("acai submit --env-var FOO=1 -- 'make all | tee log'");
    expect(cell).toBe('%%acai run --env-var FOO=1 --shell\nmake all | tee log');
    expect(python).toBe(
      'acai.submit(command="make all | tee log", env_var={"FOO": "1"})'
    );
    const words = linesOf(ask({ command: ['make', 'a b'] }));
    expect(words.cell).toBe("%%acai run --shell\nmake 'a b'");
    expect(words.python).toBe('acai.submit(command=["make", "a b"])');
  });

  it('is a cell above its code when it was one; elsewhere it is done again', () => {
    const cell = ask({
      ...WHOLE,
      command: ['python', '-u', 'cell.py'],
      as_cell: true,
      template: 'a.ipynb#f3b1 (lr)'
    });
    const lines = linesOf(cell, 'theirs');
    const options = OPTIONS.replace('--profile training ', '');
    expect(lines.cell).toBe(
      `%%acai run ${options} --project theirs --receive net,loss`
    );
    expect(lines.file).toBe('cell.py');
    expect(lines.shell).toBe('acai replay 7 --project theirs');
    expect(lines.python).toBe('acai.replay(7, project="theirs")');
    expect(lines.notes[0]).toContain('The code of a cell');
    const shell = linesOf(ask({ command: ['sh', '_cell.sh'] }));
    expect([shell.cell, shell.file]).toEqual([
      '%%acai run --shell',
      '_cell.sh'
    ]);
  });

  it('is a notebook where that was run, of which what is left is kept anyway', () => {
    const { cell, shell, file } = linesOf(
      ask({
        command: ['python', '-u', 'a.ipynb'],
        as_cell: true,
        keep_partial: true,
        template: 'a.ipynb ()'
      })
    );
    expect([shell, cell, file]).toEqual([
      'acai submit a.ipynb',
      '%%acai run --script a.ipynb',
      ''
    ]);
  });
});
