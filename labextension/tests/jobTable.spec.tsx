import * as React from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it, vi } from 'vitest';

import { compareJobs, type IWhole } from '../src/core/compareJobs';
import { chosen, clauseFor, has, without, wordAt } from '../src/core/queryText';
import { readTagLine } from '../src/core/tagLine';
import type { DataClient } from '../src/core/dataClient';
import { differenceOf } from '../src/jobs/codeChanges';
import { CompareView } from '../src/jobs/compareView';
import { extend, NOTHING, toggle } from '../src/jobs/selection';
import { makeFinished, makeJob } from './jobs';

describe('A query that values are chosen for', () => {
  it('has one value of a key, and any number of labels', () => {
    const failed = clauseFor('state', 'failed');
    expect(chosen('', 'state', failed)).toBe("state = 'failed'");
    const both = chosen(
      "state = 'running' and lr > 0.1 limit 5",
      'state',
      failed
    );
    expect(both).toBe("lr > 0.1 and state = 'failed' limit 5");
    expect(has(both, failed)).toBe(true);
    expect(chosen(both, 'state', failed)).toBe('lr > 0.1 limit 5');
    const one = chosen(failed, 'tags', clauseFor('tags', 'a'));
    expect(chosen(one, 'tags', clauseFor('tags', "b's"))).toBe(
      "state = 'failed' and 'a' in tags and 'b''s' in tags"
    );
  });

  it('means the same when something is joined to it', () => {
    expect(chosen('a = 1 or b = 2', 'state', "state = 'x'")).toBe(
      "(a = 1 or b = 2) and state = 'x'"
    );
    expect(chosen('a between 1 and 5 order by a', 'state', "state = 'x'")).toBe(
      "a between 1 and 5 and state = 'x' order by a"
    );
  });

  it('does not read what stands within a text', () => {
    const query = "note = 'x and state = ''failed'' order by y'";
    expect(without(query, 'state')).toBe(query);
    expect(chosen(query, 'state', "state = 'x'")).toBe(
      `${query} and state = 'x'`
    );
  });

  it('offers keys where one is being typed', () => {
    expect(wordAt('lr > 0.1 and acc', 16)).toBe('acc');
    expect(wordAt("name = 'acc", 11)).toBe('');
    expect(wordAt('params.l', 8)).toBe('params.l');
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
  it('grows by one and by a range, as far as rows are known', () => {
    const things = ['9', '8', undefined, '6'];
    const one = toggle(NOTHING, '9', 0);
    const range = extend(one, 3, at => things[at]);
    expect([...range.chosen]).toEqual(['9', '8', '6']);
    expect([...toggle(range, '8', 1).chosen]).toEqual(['9', '6']);
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
