import { describe, expect, it } from 'vitest';

import { factsOf } from '../src/core/jobFacts';
import { describeJob } from '../src/core/jobText';
import { stepsOf } from '../src/views/job/stepper';
import { sorted } from '../src/views/jobs/order';
import { makeAttempt, makeFinished, makeJob } from './jobs';

const NOW = new Date('2026-11-18T12:00:17Z');

describe('describeJob', () => {
  it('says how it ended in the words of the magics', () => {
    expect(describeJob(makeFinished(), NOW)).toBe(
      'job 7 · finished · 3.2 s · $0.00003 · digits:1 → model:1 · accuracy 0.97'
    );
  });

  it('says where it stands', () => {
    expect(describeJob(makeJob(), NOW)).toBe('job 7 · running · since 12 s');
    const waiting = { sentence: 'It waits for its turn.', place: 2 };
    const queued = makeJob({ state: 'queued', attempts: [], waiting });
    expect(describeJob(queued, NOW)).toBe(
      'job 7 · queued · since 17 s · It waits for its turn.'
    );
  });

  it('says what went wrong and what is left', () => {
    const attempt = {
      ...makeAttempt(),
      run_seconds: 12,
      log_bytes: 5
    };
    const failed = makeJob({
      state: 'failed',
      reason: 'exit 1',
      partial: 'job-7-partial:1',
      attempts: [attempt]
    });
    expect(describeJob(failed, NOW)).toBe(
      'job 7 failed (exit 1) after 12 s · log kept · partial outputs: %acai get @job-7-partial .'
    );
    const killed = makeJob({
      state: 'killed',
      reason: 'killed by ana',
      attempts: []
    });
    expect(describeJob(killed, NOW)).toBe('job 7 was killed by ana');
  });

  it('lets nothing that others wrote begin a line or turn round', () => {
    const attributes = { a: 'x\n\u202ey\x1b[2J' };
    expect(describeJob(makeFinished({ attributes }), NOW)).toContain(
      'a x\\n\\u202ey\\x1b[2J'
    );
  });
});

describe('stepsOf', () => {
  it('tells how long each state took, and which is now', () => {
    const steps = stepsOf(makeJob(), NOW);
    expect(steps.map(step => [step.state, step.place, step.seconds])).toEqual([
      ['queued', 'done', 1],
      ['launching', 'done', 1],
      ['downloading', 'done', 3],
      ['running', 'now', 12],
      ['uploading', 'ahead', null],
      ['finished', 'ahead', null]
    ]);
  });

  it('leaves out what never was, and counts no further than the end', () => {
    const killed = makeJob({
      state: 'killed',
      attempts: [],
      ended_at: '2026-11-18T12:00:04Z'
    });
    const shown = stepsOf(killed, NOW).filter(step => step.place !== 'skipped');
    expect(shown.map(step => [step.state, step.seconds])).toEqual([
      ['queued', 4],
      ['killed', null]
    ]);
  });

  it('tells of the attempt that a job is in, not of one that is behind it', () => {
    const first = makeAttempt({ ended: 'failed' });
    const queued = makeJob({ state: 'queued', attempts: [first] });
    const steps = stepsOf(queued, NOW);
    expect(steps.map(step => [step.state, step.place, step.seconds])).toEqual([
      ['queued', 'now', 8],
      ['launching', 'ahead', null],
      ['downloading', 'ahead', null],
      ['running', 'ahead', null],
      ['uploading', 'ahead', null],
      ['finished', 'ahead', null]
    ]);
    const second = {
      ...makeAttempt(),
      number: 2,
      transitions: [
        { state: 'launching' as const, at: '2026-11-18T12:00:11Z', reason: '' }
      ]
    };
    const again = makeJob({ state: 'launching', attempts: [first, second] });
    expect(stepsOf(again, NOW).map(step => step.seconds)).toEqual([
      2,
      6,
      null,
      null,
      null,
      null
    ]);
  });
});

describe('factsOf', () => {
  it('tells elapsed and expected time, and the cost so far', () => {
    const attempt = { ...makeAttempt(), usd_per_hour: 3.6 };
    const job = makeJob({ attempts: [attempt], expected_seconds: 40 });
    const facts = new Map(factsOf(job, NOW));
    expect(facts.get('elapsed')).toBe('15 s of about 40 s');
    expect(facts.get('cost')).toBe('$0.02 so far of about $0.04');
    expect(facts.get('asked for')).toBe('1 vCPU, 1 GB');
    expect(facts.has('spare memory')).toBe(false);
  });

  it('tells how much less memory would have been enough', () => {
    const less_memory = { memory_bytes: 512 * 1024 ** 2, saved_usd: 0.002 };
    const facts = new Map(factsOf(makeJob({ less_memory }), NOW));
    expect(facts.get('spare memory')).toBe(
      '512 MB would have been enough, and $0.00200 less'
    );
  });

  it('tells how the attempts before ended, and counts nothing of them as elapsed', () => {
    const first = {
      ...makeAttempt({ ended: 'failed' }),
      run_seconds: 4,
      cost_usd: 0.5,
      usd_per_hour: 3.6
    };
    const job = makeJob({
      state: 'queued',
      attempts: [first],
      expected_seconds: 40
    });
    const facts = new Map(factsOf(job, NOW));
    expect(facts.get('attempt 1')).toBe('failed: exit 1 after 4 s');
    expect(facts.get('expected')).toBe('about 40 s');
    expect(facts.get('cost')).toBe('$0.50');
    expect(facts.has('elapsed')).toBe(false);
  });
});

describe('sorted', () => {
  const rows = [
    { thing: '10', values: [2] },
    { thing: '9', values: [null] },
    { thing: '8', values: [10] }
  ];
  const things = (column: number, direction: 'ascending' | 'descending') =>
    sorted(rows, { column, direction }).map(row => row.thing);

  it('sorts numbers as numbers, with what has none at the end', () => {
    expect(things(0, 'ascending')).toEqual(['10', '8', '9']);
    expect(things(0, 'descending')).toEqual(['8', '10', '9']);
    expect(things(-1, 'ascending')).toEqual(['8', '9', '10']);
  });

  it('keeps the order in which they were found', () => {
    expect(sorted(rows, null)).toBe(rows);
  });
});
