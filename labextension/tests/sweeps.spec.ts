import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { IEvent, ISweepRow, ISweepTable } from '../src/contract';
import {
  bestOf,
  describeBest,
  describeSweep,
  firstMetric,
  isBetterLow,
  isLive,
  pageOf
} from '../src/core/sweepTable';
import { AcaiError } from '../src/core/errors';
import { EventStreams } from '../src/core/eventStreams';
import { sweepForms } from '../src/core/plainForms';
import { SweepModel } from '../src/views/sweep/model';
import { FakeSocket } from './fakes';

function row(job: number, changes: Partial<ISweepRow> = {}): ISweepRow {
  return {
    job,
    state: 'finished',
    reason: '',
    parameters: { lr: job / 10 },
    attributes: { accuracy: 0.9 + job / 100, seed: 1 },
    created_at: `2026-11-18T12:00:0${job}Z`,
    ...changes
  };
}

function table(...rows: ISweepRow[]): ISweepTable {
  return {
    tag: 'sweep-1',
    parameters: ['lr'],
    metrics: ['seed', 'accuracy'],
    rows
  };
}

function event(changes: Partial<IEvent> = {}): IEvent {
  return {
    number: 1,
    kind: 'job_finished',
    subject: 'job 2',
    created_at: '2026-11-18T12:00:00Z',
    details: {},
    ...changes
  };
}

describe('a table of a sweep', () => {
  it('marks the best of the finished ones by the first metric in which they differ', () => {
    const found = table(row(1), row(2), row(3, { state: 'running' }));
    expect(firstMetric(found)).toBe('accuracy');
    expect(bestOf(found, 'accuracy', false)?.job).toBe(2);
    expect(bestOf(found, 'accuracy', true)?.job).toBe(1);
    expect(bestOf(found, 'nothing', true)).toBeNull();
    expect(describeBest(row(2), 'accuracy')).toBe(
      'best by accuracy: job 2 (0.92)'
    );
    expect(describeSweep(found, 3)).toBe(
      'sweep-1 · 3 jobs · 2 finished, 1 running'
    );
    expect(isLive(found)).toBe(true);
  });

  it('takes less of an error for better', () => {
    expect(['val_loss', 'mse', 'test.rmse'].map(isBetterLow)).toEqual([
      true,
      true,
      true
    ]);
    expect(['accuracy', 'glossary', 'terror'].map(isBetterLow)).toEqual([
      false,
      false,
      false
    ]);
  });

  it('has columns of its own for a metric that is called like a parameter', () => {
    const found = { ...table(row(1)), metrics: ['lr'] };
    expect(pageOf(found).columns.slice(0, 3)).toEqual([
      'params.lr',
      'state',
      'lr'
    ]);
  });
});

describe('what a notebook keeps of a sweep for others', () => {
  it('is its table as lines and as HTML, in which nothing that others wrote is markup', () => {
    const evil = row(2, { parameters: { lr: '<b>\n1' } });
    const { text, html } = sweepForms(table(row(1), evil), 5);
    expect(text.split('\n')).toEqual([
      'sweep-1 · 5 jobs · 2 finished · best by accuracy: job 2 (0.92)',
      'job  lr      state     seed  accuracy  billed_seconds  cost_usd  output',
      '  1  0.1     finished     1      0.91',
      '  2  <b>\\n1  finished     1      0.92',
      '… 3 more'
    ]);
    expect(html).toContain('<td style="text-align: left">&lt;b&gt;\\n1</td>');
    expect(html).toContain('<td style="text-align: right">0.92</td>');
    expect(html).toContain('… 3 more');
    expect(html).not.toMatch(/<b>|<script/);
  });
});

describe('SweepModel', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function open(first: ISweepTable, now: ISweepTable) {
    const ask = vi.fn(() => Promise.resolve(now));
    const sockets: FakeSocket[] = [];
    const streams = new EventStreams(project => {
      const socket = new FakeSocket(project);
      sockets.push(socket);
      return socket;
    });
    const model = new SweepModel(first, {
      ask,
      follow: listener => streams.follow('theirs', listener)
    });
    let number = 0;
    const say = (changes: Partial<IEvent> = {}) => {
      number += 1;
      const told = event({ number, ...changes });
      sockets.at(-1)?.send({ events: [told] });
    };
    return { ask, model, say, sockets };
  }

  it('asks nothing about one that has ended', async () => {
    const { ask, model } = open(table(row(1)), table(row(1)));
    model.setSeen(true);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ask).not.toHaveBeenCalled();
  });

  it('asks while it is seen, once for events that come together, and only about its own jobs', async () => {
    const live = table(row(1), row(2, { state: 'running' }));
    const { ask, model, say } = open(live, live);
    model.setSeen(true);
    say({ subject: 'job 22' }); // the stream begins
    say();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ask).toHaveBeenCalledTimes(1);
    say({ subject: 'job 22' });
    say({ kind: 'job_progressed' });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ask).toHaveBeenCalledTimes(1);
    say({ kind: 'metadata_changed', details: { things: [2] } });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ask).toHaveBeenCalledTimes(2);
    model.setSeen(false);
    say();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ask).toHaveBeenCalledTimes(2);
    model.setSeen(true);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ask).toHaveBeenCalledTimes(3);
  });

  it('hears what happens in its own project until its last job has ended', async () => {
    const live = table(row(1), row(2, { state: 'queued' }));
    const { ask, model, say, sockets } = open(live, table(row(1), row(2)));
    expect(sockets).toHaveLength(0);
    model.setSeen(true);
    expect(sockets.map(socket => socket.address)).toEqual(['theirs']);
    say();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(isLive(model.table)).toBe(false);
    expect(sockets.map(socket => socket.closed)).toEqual([true]);
    expect(vi.getTimerCount()).toBe(0);
    expect(ask).toHaveBeenCalledTimes(1);
  });

  it('keeps what the notebook knew when the project has others of that tag', async () => {
    const live = table(row(1, { state: 'running' }));
    const others = table(row(1, { created_at: '2027-01-01T00:00:00Z' }));
    const { ask, model } = open(live, others);
    model.setSeen(true);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(model.isOther).toBe(true);
    expect(model.table).toBe(live);
    model.setSeen(false);
    model.setSeen(true);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ask).toHaveBeenCalledTimes(1);
  });

  it('asks again for an end that it could not ask for', async () => {
    const live = table(row(1, { state: 'running' }));
    const { ask, model } = open(live, table(row(1)));
    const away = new AcaiError('server_unreachable', 'Away.', 0);
    ask.mockRejectedValueOnce(away).mockRejectedValueOnce(away);
    model.setSeen(true);
    await vi.advanceTimersByTimeAsync(300);
    expect(model.error?.message).toBe('Away.');
    await vi.runAllTimersAsync();
    expect(model.error).toBeNull();
    expect(isLive(model.table)).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });
});
