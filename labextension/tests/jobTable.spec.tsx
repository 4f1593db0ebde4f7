import * as React from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it, vi } from 'vitest';

import { AcaiError, serverUnreachable } from '../src/core/errors';
import { countHidden } from '../src/core/hiddenJobs';
import { killJobs, tagThings } from '../src/core/jobActions';
import { labelByTemplate } from '../src/core/jobLabel';
import { compareJobs, type IWhole } from '../src/core/compareJobs';
import {
  chosen,
  completed,
  has,
  markedBelow,
  without,
  wordAt
} from '../src/core/queryText';
import { readTagLine } from '../src/core/tagLine';
import type { DataClient } from '../src/core/dataClient';
import { differenceOf } from '../src/jobs/codeChanges';
import { CompareView } from '../src/jobs/compareView';
import { Choice } from '../src/jobs/choice';
import { removeJobs } from '../src/jobs/removing';
import {
  joined,
  NOTHING,
  toggled,
  without as withoutThings
} from '../src/jobs/selection';
import { SelectionTasks } from '../src/jobs/selectionTasks';
import { makeAttempt, makeFinished, makeJob } from './jobs';

describe('A query that values are chosen for', () => {
  it('has any of some values of a key, and all of some labels', () => {
    const failed = chosen('', 'state', 'failed');
    expect(failed).toBe("state = 'failed'");
    const both = chosen(
      "state = 'running' and lr > 0.1 limit 5",
      'state',
      'failed'
    );
    expect(both).toBe("lr > 0.1 and state in ('running', 'failed') limit 5");
    expect(has(both, 'state', 'running')).toBe(true);
    expect(has(both, 'state', 'killed')).toBe(false);
    expect(without(both, 'state')).toBe('lr > 0.1 limit 5');
    expect(chosen(both, 'state', 'running')).toBe(
      "lr > 0.1 and state = 'failed' limit 5"
    );
    const one = chosen(failed, 'tags', 'a');
    expect(chosen(one, 'tags', "b's")).toBe(
      "state = 'failed' and 'a' in tags and 'b''s' in tags"
    );
    expect(chosen(one, 'tags', 'a')).toBe(failed);
  });

  it('means the same when something is joined to it', () => {
    expect(chosen('a = 1 or b = 2', 'state', 'x')).toBe(
      "(a = 1 or b = 2) and state = 'x'"
    );
    expect(chosen("state = 'y' or b = 2", 'state', 'x')).toBe(
      "(state = 'y' or b = 2) and state = 'x'"
    );
    expect(chosen('a between 1 and 5 order by a', 'state', 'x')).toBe(
      "a between 1 and 5 and state = 'x' order by a"
    );
  });

  it('does not read what stands within a text', () => {
    const query = "note = 'x and state = ''failed'' order by y'";
    expect(without(query, 'state')).toBe(query);
    expect(chosen(query, 'state', 'x')).toBe(`${query} and state = 'x'`);
  });

  it('is read at once, however many quotes are in it', () => {
    const quotes = "'".repeat(60);
    for (const query of [`a in (${quotes}`, `a in (${quotes}x)`]) {
      expect(has(query, 'a', 'b')).toBe(false);
    }
    const list = `a in (${"'x''', ".repeat(50)}'y')`;
    expect(has(list, 'a', "x'")).toBe(true);
    expect(without("a in ('x' , 2,3) and b = 1", 'a')).toBe('b = 1');
  });

  it('has a mark below the column that is wrong, and of a long one the part around it', () => {
    expect(markedBelow('lr > and', 6)).toBe('lr > and\n     ^');
    const [line = '', mark = ''] = markedBelow(
      `${'x'.repeat(500)}!${'y'.repeat(500)}`,
      501
    ).split('\n');
    expect(line.length).toBeLessThan(150);
    expect(line.charAt(mark.indexOf('^'))).toBe('!');
  });

  it('offers keys where one is being typed', () => {
    expect(wordAt('lr > 0.1 and acc', 16)).toBe('acc');
    expect(wordAt("name = 'acc", 11)).toBe('');
    expect(wordAt('params.l', 8)).toBe('params.l');
  });

  it('has the key that is taken in the place of the whole word', () => {
    expect(completed('acc', 3, 'accuracy')).toEqual({
      text: 'accuracy ',
      place: 9
    });
    expect(completed('lr > 1 and acxx > 2', 13, 'accuracy')).toEqual({
      text: 'lr > 1 and accuracy > 2',
      place: 20
    });
    expect(completed('has(ac)', 6, 'accuracy')).toEqual({
      text: 'has(accuracy)',
      place: 12
    });
  });
});

describe('A line of tags', () => {
  it('is read as the command line reads it', () => {
    const { change, fault } = readTagLine(
      `stage=candidate accuracy=0.98 code='007' ok=true +reviewed -old note=`
    );
    expect(fault).toBe('');
    expect(change).toEqual({
      set: { stage: 'candidate', accuracy: 0.98, code: '007', ok: true },
      delete: ['note'],
      add_labels: ['reviewed'],
      remove_labels: ['old']
    });
    expect(readTagLine('day=2026-11-01T12:00:00Z').change.set).toEqual({
      day: { time: '2026-11-01T12:00:00.000Z' }
    });
  });

  it('says which word is none', () => {
    expect(readTagLine('+a what').fault).toContain("'what'");
    expect(readTagLine('  ').fault).toBe('There is nothing to change.');
  });
});

describe('A selection', () => {
  it('grows by one and by many, and loses what is deleted', () => {
    const one = toggled(NOTHING, '9');
    const many = joined(one, ['8', '9', '6']);
    expect([...many]).toEqual(['9', '8', '6']);
    expect([...toggled(many, '8')]).toEqual(['9', '6']);
    expect([...withoutThings(many, ['6', '9'])]).toEqual(['8']);
  });

  it('does not take what is answered after somebody chose otherwise', async () => {
    const choice = new Choice();
    let answer: (jobs: string[]) => void = () => undefined;
    const added = choice.add(
      new Promise(resolve => {
        answer = resolve;
      })
    );
    choice.toggle('1');
    answer(['2', '3']);
    await added;
    expect([...choice.chosen]).toEqual(['1']);
    await choice.add(Promise.resolve(['2']));
    expect([...choice.chosen]).toEqual(['1', '2']);
  });

  it('is told how much of it the list does not have', async () => {
    const asked: string[] = [];
    const count = (query: string) => {
      asked.push(query);
      return Promise.resolve({ count: 1 });
    };
    const jobs = Array.from({ length: 401 }, (_, at) => String(at));
    expect(await countHidden(count, "state = 'failed' limit 9", jobs)).toBe(
      399
    );
    expect(asked[1]).toBe("state = 'failed' and number in (400) limit 9");
    const asking = new AbortController();
    const told = countHidden(count, "state = 'failed'", jobs, asking.signal);
    asking.abort();
    await expect(told).rejects.toThrow();
    expect(asked).toHaveLength(3);
  });
});

describe('A job without a name', () => {
  it('is called by its program, as its template has it', () => {
    const labels = ['train.py (lr)', 'cell.py ()', 'digits.ipynb#c1', 'mine'];
    expect(labels.map(labelByTemplate)).toEqual([
      'train.py',
      'a cell',
      'a cell of digits',
      'mine'
    ]);
  });
});

describe('Cleaning up', () => {
  function makeSource(refusals: { [number: number]: AcaiError }) {
    const asked: number[] = [];
    const remove = (number: number) => {
      asked.push(number);
      const refused = refusals[number];
      return refused === undefined
        ? Promise.resolve()
        : Promise.reject(refused);
    };
    return { asked, remove };
  }
  const nothing = () => undefined;

  it('goes on behind a job that is refused, and says why', async () => {
    const source = makeSource({
      2: new AcaiError('job_live', 'Job 2 runs.', 409)
    });
    const steps: number[] = [];
    const told = await removeJobs(source, [1, 2, 3], false, step =>
      steps.push(step)
    );
    expect(told).toEqual({ done: [1, 3], kept: ['Job 2 runs.'] });
    expect(steps).toEqual([1, 2]);
  });

  it('ends where nothing answers any more', async () => {
    const source = makeSource({ 2: serverUnreachable() });
    const { done } = await removeJobs(source, [1, 2, 3], false, nothing);
    expect(done).toEqual([1]);
    expect(source.asked).toEqual([1, 2]);
  });
});

describe('What is done with jobs that are chosen', () => {
  function makeTasks() {
    const answers: (() => void)[] = [];
    const asked: [number, boolean][] = [];
    const source = {
      remove: (number: number, undo: boolean) => {
        asked.push([number, undo]);
        return new Promise<void>(resolve => answers.push(resolve));
      },
      kill: ({ jobs }: { jobs: number[] }) =>
        Promise.resolve({ asked: jobs, ended: [] }),
      tag: () => Promise.resolve({ things: [] })
    };
    const gone = vi.fn();
    const tasks = new SelectionTasks(source, gone);
    /** Let the server answer so many requests, one after the other. */
    const answer = async (count: number) => {
      for (let at = 0; at < count; at += 1) {
        await vi.waitFor(() => {
          expect(answers).not.toHaveLength(0);
        });
        answers.shift()?.();
      }
    };
    return { tasks, asked, gone, answer };
  }

  it('is one thing at a time', async () => {
    const { tasks, asked, answer } = makeTasks();
    const first = tasks.remove([1]);
    expect(tasks.isBusy).toBe(true);
    expect(await tasks.remove([1])).toBe(false);
    expect(await tasks.kill([1])).toBe(false);
    await answer(1);
    expect(await first).toBe(true);
    expect(tasks.isBusy).toBe(false);
    expect(asked).toEqual([[1, false]]);
  });

  it('is brought back one after the other, as often as something was deleted', async () => {
    const { tasks, asked, answer } = makeTasks();
    for (const numbers of [[1, 2], [3]]) {
      const removed = tasks.remove(numbers);
      await answer(numbers.length);
      await removed;
    }
    asked.length = 0;
    for (const count of [1, 2]) {
      const back = tasks.undo();
      await answer(count);
      await back;
    }
    expect(asked).toEqual([
      [3, true],
      [1, true],
      [2, true]
    ]);
    expect(tasks.canUndo).toBe(false);
  });

  it('ends when somebody stops it, and what was deleted until then is known', async () => {
    const { tasks, gone, answer } = makeTasks();
    const removed = tasks.remove([1, 2, 3]);
    expect(tasks.canStop).toBe(true);
    tasks.stop();
    await answer(1);
    await removed;
    expect(gone).toHaveBeenCalledExactlyOnceWith(['1']);
    expect(tasks.told).toBe('1 deleted');
    expect(tasks.canUndo).toBe(true);
  });
});

describe('Many jobs', () => {
  it('are ended and tagged by as many requests as it takes', async () => {
    const numbers = Array.from({ length: 1_001 }, (_, at) => at + 1);
    const kill = vi.fn(({ jobs }: { jobs: number[] }) =>
      Promise.resolve({ asked: jobs, ended: [] })
    );
    expect(await killJobs({ kill }, numbers)).toEqual({
      asked: 1_001,
      ended: 0,
      error: null
    });
    expect(kill).toHaveBeenCalledTimes(2);
    const tag = vi.fn(({ changes }: { changes: { thing: string }[] }) =>
      Promise.resolve({ things: changes.map(one => one.thing) })
    );
    const change = { add_labels: ['best'] };
    const things = numbers.map(String);
    expect(await tagThings({ tag }, [...things, ...things], change)).toEqual({
      changed: 2_002,
      error: null
    });
    expect(tag).toHaveBeenCalledTimes(1);
  });

  it('are told as far as they were ended or tagged, with what went wrong then', async () => {
    const numbers = Array.from({ length: 5_001 }, (_, at) => at + 1);
    const away = new AcaiError('away', 'Not now.', 503);
    const kill = vi
      .fn(({ jobs }: { jobs: number[] }) =>
        Promise.resolve({ asked: jobs, ended: [] })
      )
      .mockRejectedValue(away)
      .mockResolvedValueOnce({ asked: [1, 2], ended: [] });
    expect(await killJobs({ kill }, numbers)).toEqual({
      asked: 2,
      ended: 0,
      error: away
    });
    const tag = vi
      .fn(() => Promise.resolve({ things: ['1'] }))
      .mockRejectedValue(away)
      .mockResolvedValueOnce({ things: ['1'] });
    const tasks = new SelectionTasks(
      { kill, tag, remove: () => Promise.resolve() },
      () => undefined
    );
    expect(await tasks.tag(numbers.map(String), {})).toBe(false);
    expect([tasks.told, tasks.failure]).toEqual(['1 changed', 'Not now.']);
  });
});

function makeWhole(number: number, lr: number, numpy: string): IWhole {
  const job = makeFinished({
    number,
    parameters: { lr },
    inputs: [`digits:${number}`],
    name: '<b>evil</b>'
  });
  const request = { command: job.command };
  const environment = { python: '3.11', packages: { numpy } };
  return { job, asked: { number, request, inputs: job.inputs, environment } };
}

describe('The code of two jobs', () => {
  const job = (number: number, code: string | null) =>
    makeJob({ number, code });
  const compare = vi.fn(() => Promise.resolve({ differences: [], next: null }));
  const data = { compare } as unknown as DataClient;

  it('is compared from the one to the other, where both have some and not the same', async () => {
    expect(await differenceOf(job(1, 'a:1'), job(2, 'a:1'), data)).toBeNull();
    expect(await differenceOf(job(1, null), job(2, null), data)).toBeNull();
    expect(compare).not.toHaveBeenCalled();
    expect(await differenceOf(job(1, 'a:1'), job(2, null), data)).toEqual({
      kind: 'words',
      words: 'Job 2 has no code of its own.'
    });
    expect(await differenceOf(job(1, 'a:1'), job(2, 'b:2'), data)).toEqual({
      kind: 'changes',
      words: 'The code of job 2 differs from that of job 1:',
      changes: []
    });
    expect(compare).toHaveBeenCalledExactlyOnceWith('@a:1', '@b:2', 0);
  });
});

describe('Two jobs side by side', () => {
  const before = makeWhole(1, 0.1, '2.0');
  const after = makeWhole(2, 0.2, '2.1<script>');

  it('differ in what they were given and what became of them', () => {
    const rows = compareJobs(before, after).filter(row => !row.isSame);
    expect(
      rows.map(row => [row.group, row.name, row.before, row.after])
    ).toEqual([
      ['parameters', 'lr', '0.1', '0.2'],
      ['inputs', 'digits', 'digits:1', 'digits:2'],
      ['environment', 'packages.numpy', '2.0', '2.1<script>']
    ]);
  });

  it('differ in what reads alike, which is told in full then', () => {
    const long = 'x'.repeat(300);
    const one = makeWhole(1, 0.1, '2.0');
    const other = makeWhole(1, 0.10000001, '2.0');
    other.job.attempts = [
      { ...makeAttempt(), run_seconds: 3.0123456, billed_seconds: 3.2 }
    ];
    one.asked.request.environment = { A: `${long}1`, B: '1' };
    other.asked.request.environment = { A: `${long}2`, B: '1' };
    one.job.resources = { memory_bytes: 1030 * 1024 ** 2, gpu_type: 'a' };
    other.job.resources = { memory_bytes: 1060 * 1024 ** 2, gpu_type: 'b' };
    other.job.priority = 3;
    Object.assign(other.asked.request, {
      description: 'again',
      retry_failed: true,
      keep_partial: true
    });
    const rows = compareJobs(one, other).filter(row => !row.isSame);
    expect(rows.map(row => [row.name, row.before, row.after])).toEqual([
      ['run time', '3 s', '3.01 s'],
      ['cost', '$0.00003', ''],
      ['lr', '0.1', '0.10000001'],
      ['$A', `"${long}1"`, `"${long}2"`],
      ['memory', '1080033280 B', '1111490560 B'],
      ['kind of GPU', 'a', 'b'],
      ['retried when it fails', 'no', 'yes'],
      ['priority', '0', '3'],
      ['description', '', 'again'],
      ['keep_partial', '', 'true']
    ]);
  });

  it('are shown with only what differs, as text', () => {
    const markup = renderToStaticMarkup(
      <CompareView before={1} after={2} rows={compareJobs(before, after)} />
    );
    expect(markup).toContain('digits:2');
    expect(markup).not.toContain('3.11');
    expect(markup).not.toContain('<script>');
    const same = renderToStaticMarkup(
      <CompareView before={1} after={1} rows={compareJobs(before, before)} />
    );
    expect(same).toContain('Nothing differs.');
  });
});
