import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { IEvent, IJob } from '../src/contract';
import { AcaiError } from '../src/core/errors';
import { EventStreams } from '../src/core/eventStreams';
import { JobStore } from '../src/core/jobStore';
import { FakeSocket } from './fakes';
import { makeAttempt, makeFinished, makeJob, snapshotOf } from './jobs';

function event(kind: string, changes: Partial<IEvent> = {}): IEvent {
  return {
    number: 1,
    kind,
    subject: 'job 7',
    created_at: '2026-11-18T12:00:00Z',
    details: {},
    ...changes
  };
}

/** The sockets that were opened, by the projects whose events they bring. */
let sockets: FakeSocket[];

beforeEach(() => {
  vi.useFakeTimers();
  sockets = [];
});

afterEach(() => {
  vi.useRealTimers();
});

function storeOf(ask: (project: string, number: number) => Promise<IJob>) {
  const streams = new EventStreams(project => {
    const socket = new FakeSocket(project);
    sockets.push(socket);
    return socket;
  });
  return new JobStore({
    ask,
    follow: (project, listener) => streams.follow(project, listener)
  });
}

function open(first: IJob, answers: (IJob | Error)[]) {
  const ask = vi.fn(() => {
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    return answer instanceof Error
      ? Promise.reject(answer)
      : Promise.resolve(answer ?? first);
  });
  const store = storeOf(ask);
  const model = store.acquire(snapshotOf(first));
  return { ask, store, model };
}

/** Let a project's open stream tell of something. */
function say(project: string, ...events: IEvent[]): void {
  for (const socket of sockets) {
    if (socket.address === project && !socket.closed) {
      socket.send({ events });
    }
  }
}

/** Let everything happen that waits for nothing but promises. */
async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

const begun: IEvent = event('job_launching', { number: 0, subject: 'job 0' });

describe('JobStore', () => {
  it('asks nothing about a job that has ended, however often it is looked at', () => {
    const { ask, model } = open(makeFinished(), [makeFinished()]);
    model.look();
    expect(ask).not.toHaveBeenCalled();
    expect(sockets).toHaveLength(0);
  });

  it('asks when a live job is first seen, and when something is said of it', async () => {
    const { ask, model } = open(makeJob(), [makeJob(), makeFinished()]);
    expect(ask).not.toHaveBeenCalled();
    expect(sockets).toHaveLength(0);
    model.look();
    await settle();
    expect(ask).toHaveBeenCalledTimes(1);
    expect(model.identity).toBe('same');
    say('default', event('job_finished'));
    await settle();
    expect(model.job.state).toBe('finished');
    expect(model.isLive).toBe(false);
  });

  it('asks again when the stream begins, for what happened before', async () => {
    const { ask, model } = open(makeJob(), [makeJob(), makeFinished()]);
    model.look();
    await settle();
    say('default', begun);
    await settle();
    expect(ask).toHaveBeenCalledTimes(2);
    expect(model.job.state).toBe('finished');
  });

  it('waits with asking until it can be seen', async () => {
    const { ask, model } = open(makeJob(), [makeJob()]);
    const leave = model.look();
    say('default', begun);
    await settle();
    leave();
    ask.mockClear();
    say('default', event('job_uploading'));
    await settle();
    expect(ask).not.toHaveBeenCalled();
    model.look();
    expect(ask).toHaveBeenCalledTimes(1);
  });

  it('hears of tags by the names of things', async () => {
    const { ask, model } = open(makeJob(), [makeJob()]);
    model.look();
    say('default', begun);
    await settle();
    ask.mockClear();
    say('default', event('metadata_changed', { subject: 'job 8' }));
    say('other', event('metadata_changed', { number: 2 }));
    await settle();
    expect(ask).not.toHaveBeenCalled();
    const things = { details: { things: ['7'] }, subject: '2 things' };
    say('default', event('metadata_changed', { number: 3, ...things }));
    await settle();
    expect(ask).toHaveBeenCalledTimes(1);
  });

  it('follows progress without asking', async () => {
    const { ask, model } = open(makeJob(), [makeJob()]);
    model.look();
    say('default', begun);
    await settle();
    const changed = vi.fn();
    model.subscribe(changed);
    ask.mockClear();
    const details = {
      attempt: 1,
      log_bytes: 120,
      samples: [[1, 0.9, 1024, 0, 0]],
      transfer: { state: 'running', done_bytes: 5, total_bytes: 10 }
    };
    say('default', event('job_progressed', { details }));
    expect(model.logBytes).toBe(120);
    expect(model.samples).toHaveLength(1);
    expect(model.transfer?.done_bytes).toBe(5);
    expect(changed).toHaveBeenCalledTimes(1);
    expect(ask).not.toHaveBeenCalled();
  });

  it('looks anew when progress is told of an attempt that it does not know', async () => {
    const first = makeAttempt({ ended: 'failed' });
    const waiting = makeJob({ state: 'queued', attempts: [first] });
    const again = makeJob({
      attempts: [first, { ...makeAttempt(), number: 2 }]
    });
    const { ask, model } = open(waiting, [waiting, waiting, again]);
    model.look();
    await settle();
    say('default', begun);
    await settle();
    ask.mockClear();
    const details = { attempt: 2, log_bytes: 7, samples: [], transfer: null };
    say('default', event('job_progressed', { details }));
    await settle();
    expect(ask).toHaveBeenCalledTimes(1);
    expect(model.job.attempts).toHaveLength(2);
  });

  it('does not take another job of the same number for it', async () => {
    const other = makeFinished({ created_at: '2027-01-01T00:00:00Z' });
    const { model } = open(makeJob(), [other]);
    await model.refresh();
    expect(model.identity).toBe('other');
    expect(model.job.state).toBe('running');
    expect(model.isLive).toBe(false);
  });

  it('says when it is gone, and goes on after a failure', async () => {
    const away = new AcaiError('server_unreachable', 'Away.', 0);
    const { model } = open(makeJob(), [away, makeJob()]);
    await model.refresh();
    expect(model.error?.message).toBe('Away.');
    await model.refresh();
    expect(model.error).toBeNull();
    const gone = open(makeJob(), [new AcaiError('job_not_found', 'No.', 404)]);
    await gone.model.refresh();
    expect(gone.model.identity).toBe('gone');
  });

  const away = new AcaiError('server_unreachable', 'Away.', 0);

  it('asks again for an end that it could not ask for, later and later', async () => {
    const { ask, model } = open(makeJob(), [makeJob(), makeJob(), away]);
    model.look();
    await settle();
    say('default', begun, event('job_finished'));
    await settle();
    expect(model.error?.message).toBe('Away.');
    ask.mockClear();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(ask.mock.calls.length).toBeGreaterThan(1);
    expect(ask.mock.calls.length).toBeLessThan(8);
    ask.mockResolvedValue(makeFinished());
    await vi.advanceTimersByTimeAsync(30_000);
    expect(model.job.state).toBe('finished');
    expect(model.error).toBeNull();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('asks at once what it could not, when it hears the server again or is looked at anew', async () => {
    const { ask, model } = open(makeJob(), [away]);
    const leave = model.look();
    await settle();
    ask.mockClear();
    sockets[0]?.accept();
    await settle();
    expect(ask).toHaveBeenCalledTimes(1);
    leave();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ask).toHaveBeenCalledTimes(1);
    model.look();
    await settle();
    expect(ask).toHaveBeenCalledTimes(2);
  });

  it('asks no more for what it may not see', async () => {
    const refusal = new AcaiError('not_allowed', 'It is not yours.', 403);
    const { ask, model } = open(makeJob(), [refusal]);
    model.look();
    await settle();
    expect(model.error?.message).toBe('It is not yours.');
    expect(model.isLive).toBe(false);
    expect(sockets.map(socket => socket.closed)).toEqual([true]);
    expect(ask).toHaveBeenCalledTimes(1);
  });

  it('holds one model for a job, and none when nothing shows it', () => {
    const { store, model } = open(makeJob(), [makeJob()]);
    model.look();
    expect(store.acquire(snapshotOf(makeJob()))).toBe(model);
    store.release(snapshotOf(makeJob()));
    expect(store.size).toBe(1);
    expect(sockets[0]?.closed).toBe(false);
    store.release(snapshotOf(makeJob()));
    expect(store.size).toBe(0);
    expect(sockets[0]?.closed).toBe(true);
  });

  it('follows a hundred jobs of two projects by two sockets, and none of them once they are done', async () => {
    const isDone = new Set<string>();
    const ask = vi.fn((project: string, number: number) => {
      const make = isDone.has(project) ? makeFinished : makeJob;
      return Promise.resolve(make({ number }));
    });
    const store = storeOf(ask);
    for (let number = 1; number <= 100; number += 1) {
      const project = number % 2 === 0 ? 'default' : 'other';
      store.acquire(snapshotOf(makeJob({ number }), project)).look();
    }
    say('default', begun);
    say('other', begun);
    await settle();
    const live = sockets.filter(socket => !socket.closed);
    expect(live.map(socket => socket.address).sort()).toEqual([
      'default',
      'other'
    ]);
    for (const project of ['default', 'other']) {
      isDone.add(project);
      const ends = Array.from({ length: 100 }, (_, index) =>
        event('job_finished', {
          number: index + 1,
          subject: `job ${index + 1}`
        })
      );
      say(project, ...ends);
      await settle();
    }
    expect(sockets.every(socket => socket.closed)).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
    ask.mockClear();
    say('default', event('job_finished', { number: 1_000 }));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ask).not.toHaveBeenCalled();
  });
});
