import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { IEvent, IFindThings, IFoundPage } from '../src/contract';
import { AcaiError } from '../src/core/errors';
import { EventStreams } from '../src/core/eventStreams';
import { JobsModel } from '../src/views/jobs/model';
import { FakeSocket } from './fakes';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function pageOf(state: string): IFoundPage {
  const rows = [{ thing: '1', values: [state] }];
  return { kind: 'job', columns: ['state'], rows };
}

function open() {
  let state = 'running';
  const find = vi.fn(({ query }: IFindThings) =>
    query === 'number >'
      ? Promise.reject(new AcaiError('bad_query', 'Not understood.', 400))
      : Promise.resolve(pageOf(state))
  );
  const sockets: FakeSocket[] = [];
  const streams = new EventStreams(project => {
    const socket = new FakeSocket(project);
    sockets.push(socket);
    return socket;
  });
  const request: IFindThings = { kind: 'job', query: 'number > 0' };
  const model = new JobsModel(request, pageOf(state), {
    find,
    follow: listener => streams.follow('default', listener)
  });
  let number = 0;
  const finish = async () => {
    state = 'finished';
    number += 1;
    const event: IEvent = {
      number,
      kind: 'job_finished',
      subject: 'job 1',
      created_at: '2026-11-18T12:00:00Z',
      details: {}
    };
    sockets[0]?.send({ events: [event] });
    await vi.advanceTimersByTimeAsync(1_000);
  };
  return { model, find, sockets, finish };
}

describe('JobsModel', () => {
  it('stays live with what was asked before when a query is not understood', async () => {
    const { model, finish } = open();
    model.setSeen(true);
    await model.choose('number >');
    expect(model.error?.message).toBe('Not understood.');
    await finish();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(model.page.rows[0]?.values).toEqual(['finished']);
    expect(model.error?.message).toBe('Not understood.');
    await model.choose('number = 1');
    expect(model.error).toBeNull();
    expect(model.query).toBe('number = 1');
  });

  it('asks nothing while nobody sees it, and hears nothing once it is gone', async () => {
    const { model, find, sockets, finish } = open();
    expect(sockets).toHaveLength(0);
    model.setSeen(true);
    await vi.advanceTimersByTimeAsync(1_000);
    model.setSeen(false);
    find.mockClear();
    await finish();
    expect(find).not.toHaveBeenCalled();
    model.dispose();
    expect(sockets.map(socket => socket.closed)).toEqual([true]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('asks again what was not answered, also for others that were chosen meanwhile', async () => {
    const { model, find, finish } = open();
    model.setSeen(true);
    await vi.advanceTimersByTimeAsync(1_000);
    const away = new AcaiError('unavailable', 'Away.', 503);
    find.mockRejectedValueOnce(away).mockRejectedValueOnce(away);
    await finish();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(model.page.rows[0]?.values).toEqual(['finished']);
    expect(model.error).toBeNull();
    find.mockRejectedValueOnce(away);
    await model.choose('number = 1');
    expect(model.error?.message).toBe('Away.');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(model.error).toBeNull();
    expect(find.mock.lastCall?.[0].query).toBe('number = 1');
    expect(vi.getTimerCount()).toBe(1); // until the stream is silent for too long
  });
});
