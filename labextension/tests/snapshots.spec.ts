import { describe, expect, it } from 'vitest';

import { readSnapshot } from '../src/core/jobSnapshot';
import { readSweep } from '../src/core/sweepSnapshot';
import { makeAttempt, makeFinished, makeJob, snapshotOf } from './jobs';

describe('What a notebook has kept of a job', () => {
  it.each([makeJob(), makeFinished(), makeJob({ attempts: [] })])(
    'is read as it was written',
    job => {
      const kept = { ...snapshotOf(job), later: 'a field of a later version' };
      expect(readSnapshot(kept)).toBe(kept);
    }
  );

  it.each([
    { attempts: [null] },
    { attempts: [{}] },
    { attempts: [{ ...makeAttempt(), transitions: [null] }] },
    { attempts: [{ ...makeAttempt(), usage: { samples: [null] } }] },
    { inputs: [null] },
    { state: {} },
    { reason: null },
    { parameters: null },
    { resources: [] },
    { tags: 'one' },
    { attributes: 3 }
  ])('is refused where it cannot be drawn: %j', change => {
    const kept = snapshotOf(makeJob());
    const job = { ...kept.job, ...change };
    expect(() => readSnapshot({ ...kept, job })).toThrow('no job');
  });

  it.each([null, 3, 'text', [], { ...snapshotOf(makeJob()), notes: [3] }])(
    'is refused where it is none: %j',
    kept => {
      expect(() => readSnapshot(kept)).toThrow('no job');
    }
  );
});

describe('What a notebook has kept of a sweep', () => {
  const row = {
    job: 1,
    state: 'finished',
    created_at: '2026-11-18T12:00:00Z',
    parameters: {},
    attributes: {}
  };
  const table = {
    tag: 'sweep-1',
    parameters: ['lr'],
    metrics: [],
    rows: [row]
  };
  const kept = { project: 'default', count: 1, table };

  it('is read as it was written', () => {
    expect(readSweep(kept)).toBe(kept);
  });

  it.each([
    { rows: [{ job: {} }] },
    { rows: [null] },
    { rows: [{ ...row, state: undefined }] },
    { parameters: [{}] },
    { metrics: null }
  ])('is refused where it cannot be drawn: %j', change => {
    const odd = { ...kept, table: { ...table, ...change } };
    expect(() => readSweep(odd)).toThrow('no sweep');
  });
});
