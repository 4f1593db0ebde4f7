import { describe, expect, it } from 'vitest';

import type { IPlan } from '../src/contract';
import {
  readParameter,
  readSecret,
  readSize,
  readSweep,
  readTime
} from '../src/core/optionValues';
import { headOf, rowsOf } from '../src/core/planText';

const NOW = new Date('2026-11-19T12:00:00Z');
const TOLD = { code: 'this cell', environment: 'the kernel', now: NOW };

const PLAN: IPlan = {
  jobs: 1,
  template: 'mnist',
  inputs: [
    {
      file_set: 'mnist:4',
      file_count: 70_000,
      size_bytes: 55 * 2 ** 20,
      is_there: true
    }
  ],
  output: 'net',
  resources: { vcpu: 2, memory_bytes: 2 ** 30 },
  runner: 'process',
  usd_per_hour: 0.06,
  at_once: 1,
  expected: {
    runs: 31,
    seconds: 1440,
    min_seconds: 1320,
    max_seconds: 1680,
    cost_usd: 0.024,
    min_cost_usd: 0.022,
    max_cost_usd: 0.028,
    faster: {
      resources: { vcpu: 5, memory_bytes: 2 ** 30 },
      seconds: 720,
      cost_usd: 0.034
    }
  }
};

function said(term: string, changes: Partial<IPlan> = {}): string | undefined {
  return rowsOf({ ...PLAN, ...changes }, TOLD).find(
    ([name]) => name === term
  )?.[1];
}

describe('A plan', () => {
  it('says what goes in, on what, for how long and for how much', () => {
    expect(rowsOf(PLAN, TOLD)).toEqual([
      ['input', 'mnist:4 (70,000 files, 55 MB, already there)'],
      ['output', 'net'],
      ['code', 'this cell'],
      ['environment', 'the kernel'],
      ['machine', '2 vCPU, 1 GB on this machine, $0.06 per hour'],
      [
        'expected',
        '24 min, $0.02 (22 min to 28 min, $0.02 to $0.03), from 31 earlier runs'
      ],
      ['faster', '5 vCPU, 1 GB: 12 min, $0.03'],
      ['start', 'at once']
    ]);
    expect(headOf(PLAN)).toBe('Plan for 1 job');
  });

  it('says what is not known, and what is not sure', () => {
    expect(said('expected', { expected: null })).toBe(
      'not known: no such job has finished yet'
    );
    const vague = {
      ...PLAN.expected,
      is_vague: true,
      outside: ['epoch 100 is more than 5'],
      borrowed_from: 'cifar'
    } as IPlan['expected'];
    expect(said('expected', { expected: vague })).toMatch(
      /with the experience of cifar, too uncertain to decide by, further than any of them: epoch 100/
    );
    expect(said('input', { inputs: [] })).toBe('none');
    expect(said('output', { output: null })).toContain('if there is any');
  });

  it('says where it would wait, and what may still be spent', () => {
    const waiting = { sentence: 'Two jobs are before it.', place: 3 };
    expect(said('start', { waiting })).toBe('Two jobs are before it.');
    const starts_at = '2026-11-19T12:02:00Z';
    expect(said('start', { waiting: { ...waiting, starts_at } })).toBe(
      'in about 2 min. Two jobs are before it.'
    );
    const left = [
      { name: 'you', limit_usd: 1, spent_usd: 0.9, stops: true },
      { name: 'default', limit_usd: 1, spent_usd: 2, stops: false }
    ];
    expect(said('budget', { left })).toBe(
      'you: $0.10 of $1.00 left; $0.90 spent, which is nearly all'
    );
    expect(rowsOf({ ...PLAN, left }, TOLD).map(row => row[1])).toContain(
      'default: nothing of $1.00 left; $2.00 spent, and jobs go on all the same'
    );
    const partial = left.slice(0, 1).map(one => ({ ...one, is_partial: true }));
    expect(said('budget', { left: partial })).toBe(
      'you: at most $0.10 of $1.00 left; $0.90 spent on jobs that you can see'
    );
  });

  it('of a sweep is about all its jobs', () => {
    const sweep = { jobs: 10, at_once: 4 };
    expect(headOf({ ...PLAN, ...sweep })).toBe('Plan for 10 jobs, 4 at once');
    expect(said('expected', sweep)).toContain(
      'all together about 1 h 12 min, $0.24'
    );
  });
});

describe('What is written on a line', () => {
  it('is read as the verbs read it', () => {
    expect(readSize('512Mi')).toBe(512 * 2 ** 20);
    expect(readSize('1.5gb')).toBe(1.5 * 2 ** 30);
    expect(readSize('7')).toBe(7);
    expect(readTime('1h30m')).toBe(5400);
    expect(readTime('90')).toBe(90);
    expect(readParameter('a=1')).toEqual(['a', 1]);
    expect(readParameter('a=1e3')).toEqual(['a', 1000]);
    expect(readParameter('a=007')).toEqual(['a', '007']);
    expect(readParameter('a==x')).toEqual(['a', '=x']);
    expect(readSweep(`n=1, 0.5,'a,b',"2"`)).toEqual([
      'n',
      [1, 0.5, 'a,b', '2']
    ]);
    expect(readSecret('KEY')).toEqual(['KEY', 'KEY']);
    expect(readSecret('KEY=my-key')).toEqual(['KEY', 'my-key']);
  });

  it('is refused where they would refuse it', () => {
    for (const text of ['', 'x', '-1', '1Qi', '1e3']) {
      expect(() => readSize(text)).toThrow('is not a size');
    }
    for (const text of ['', '0s', '1m1h', 'soon']) {
      expect(() => readTime(text)).toThrow('is not a time');
    }
    for (const text of ['n', 'n=1,,2', 'n=', "n='a"]) {
      expect(() => readSweep(text)).toThrow('is not NAME=VALUE');
    }
    expect(() => readSecret('KEY=')).toThrow('neither NAME nor NAME=SECRET');
    expect(() => readParameter('1a=2')).toThrow('is not NAME=VALUE');
  });
});
