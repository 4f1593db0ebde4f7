import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { IEvent, IEventPage } from '../src/contract';
import { EventStream, type StreamState } from '../src/core/eventStream';
import { FakeSocket } from './fakes';

let sockets: FakeSocket[];
let states: StreamState[];
let numbers: number[];
let reloads: number;
let stream: EventStream;

beforeEach(() => {
  vi.useFakeTimers();
  sockets = [];
  states = [];
  numbers = [];
  reloads = 0;
  stream = new EventStream({
    open: since => {
      const socket = new FakeSocket(String(since));
      sockets.push(socket);
      return socket;
    },
    onState: state => states.push(state),
    onEvent: event => numbers.push(event.number),
    onReload: () => {
      reloads += 1;
    },
    random: () => 1
  });
  stream.start();
});

afterEach(() => {
  stream.dispose();
  vi.useRealTimers();
});

function socket(): FakeSocket {
  return sockets.at(-1) ?? expect.fail('No socket was opened.');
}

function event(number: number): IEvent {
  return {
    number,
    kind: 'job_finished',
    subject: 'job 1',
    created_at: '2026-11-18T12:00:00Z'
  };
}

/** Drop the socket and wait until the stream has opened the next one. */
function dropAndReopen(): void {
  socket().drop();
  vi.advanceTimersToNextTimer();
}

describe('EventStream where no socket comes through', () => {
  let pages: Promise<IEventPage>[];
  let asked: (number | null)[];

  beforeEach(() => {
    stream.dispose();
    [sockets, states, numbers, reloads] = [[], [], [], 0];
    pages = [];
    asked = [];
    stream = new EventStream({
      open: since => {
        const opened = new FakeSocket(String(since));
        sockets.push(opened);
        return opened;
      },
      poll: since => {
        asked.push(since);
        return pages.shift() ?? Promise.resolve({ events: [], last: 18 });
      },
      onState: state => states.push(state),
      onEvent: ({ number }) => numbers.push(number),
      onReload: () => {
        reloads += 1;
      },
      random: () => 1
    });
    stream.start();
  });

  async function fail(): Promise<void> {
    dropAndReopen();
    await vi.advanceTimersByTimeAsync(0);
  }

  it('asks at each try instead, from where it is, and says so', async () => {
    await fail();
    expect(asked).toEqual([]);
    pages.push(Promise.resolve({ events: [], last: 16 }));
    await fail();
    expect([asked, states.at(-1), reloads]).toEqual([[null], 'polling', 1]);
    pages.push(Promise.resolve({ events: [event(17), event(18)], last: 18 }));
    await fail();
    expect(asked).toEqual([null, 16]);
    expect([numbers, states.at(-1)]).toEqual([[17, 18], 'polling']);
    await fail();
    expect(socket().address).toBe('18');
  });

  it('asks on while pages are full, and never twice at once', async () => {
    const full = Array.from({ length: 500 }, (_, at) => event(at + 1));
    let answer: (page: IEventPage) => void = () => undefined;
    pages.push(
      Promise.resolve({ events: full, last: 500 }),
      new Promise(resolve => {
        answer = resolve;
      })
    );
    await fail();
    await fail();
    await fail();
    await fail();
    expect(asked).toEqual([null, 500]);
    answer({ events: [event(501)], last: 501 });
    await vi.advanceTimersByTimeAsync(0);
    await fail();
    expect([asked, numbers.length]).toEqual([[null, 500, 501], 501]);
  });

  it('asks twice a minute at most, when it has asked for a while', async () => {
    for (let failures = 0; failures < 10; failures += 1) {
      await fail();
    }
    const before = Date.now();
    await fail();
    expect(Date.now() - before).toBe(30_000);
  });

  it('is live when a socket brings something, or stays', async () => {
    await fail();
    await fail();
    socket().accept();
    expect(states.at(-1)).toBe('polling');
    socket().send({ events: [event(19)] });
    expect([states.at(-1), numbers]).toEqual(['live', [19]]);
    await fail();
    await fail();
    socket().accept();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(states.at(-1)).toBe('live');
  });

  it('is not there when the server does not answer either', async () => {
    await fail();
    await fail();
    expect(states.at(-1)).toBe('polling');
    pages.push(Promise.reject(new Error('nobody')));
    await fail();
    expect(states.at(-1)).toBe('reconnecting');
  });
});

describe('EventStream', () => {
  it('starts from now and delivers events in order', () => {
    expect(socket().address).toBe('null');
    socket().accept();
    socket().send({ events: [event(17), event(18)] });
    expect(numbers).toEqual([17, 18]);
    expect(states).toEqual(['connecting', 'live']);
  });

  it('has what was read before read anew when it knows where it begins, and not when it goes on', () => {
    socket().accept();
    expect(reloads).toBe(0);
    socket().send({ events: [], last: 16 });
    expect(reloads).toBe(1);
    dropAndReopen();
    socket().accept();
    socket().send({ events: [event(17)], last: 17 });
    expect(reloads).toBe(1);
  });

  it('resumes after the last event it has seen', () => {
    socket().accept();
    socket().send({ events: [event(17)], last: 17 });
    dropAndReopen();
    expect(socket().address).toBe('17');
    expect(states).toEqual(['connecting', 'live', 'reconnecting']);
    socket().accept();
    expect(states.at(-1)).toBe('live');
  });

  it('resumes after the number it was told, when no event has come yet', () => {
    socket().accept();
    socket().send({ events: [], last: 41 });
    dropAndReopen();
    expect(socket().address).toBe('41');
  });

  it('delivers an event once, though it comes twice', () => {
    socket().accept();
    socket().send({ events: [event(1), event(2)] });
    dropAndReopen();
    socket().send({ events: [event(2), event(3)] });
    expect(numbers).toEqual([1, 2, 3]);
  });

  it('tells of a reload and goes on from where the server says, even below', () => {
    socket().send({ events: [event(99)] });
    expect(reloads).toBe(1);
    socket().send({ reload: true, last: 42 });
    socket().send({ events: [event(43)] });
    expect(reloads).toBe(2);
    expect(numbers).toEqual([99, 43]);
    dropAndReopen();
    expect(socket().address).toBe('43');
  });

  it('waits longer after each failure, up to half a minute', () => {
    const waits: number[] = [];
    for (let failure = 0; failure < 7; failure += 1) {
      const before = Date.now();
      dropAndReopen();
      waits.push((Date.now() - before) / 1000);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30]);
  });

  it('tries at once when asked to, and never with two sockets', () => {
    socket().accept();
    stream.retry();
    expect(sockets).toHaveLength(1);
    socket().drop();
    stream.retry();
    stream.retry();
    vi.advanceTimersByTime(40_000);
    expect(sockets).toHaveLength(2);
  });

  it('starts over with short waits only after a steady connection', () => {
    dropAndReopen();
    socket().accept();
    vi.advanceTimersByTime(1_000);
    const short = Date.now();
    dropAndReopen();
    expect(Date.now() - short).toBe(2_000);
    socket().accept();
    vi.advanceTimersByTime(30_000);
    const steady = Date.now();
    dropAndReopen();
    expect(Date.now() - steady).toBe(1_000);
  });

  it('takes a long silence for a broken connection, and what comes when nothing happens for none', () => {
    socket().accept();
    for (let beats = 0; beats < 5; beats += 1) {
      vi.advanceTimersByTime(20_000);
      socket().send({ events: [], last: 17 });
    }
    expect([sockets.length, states.at(-1)]).toEqual([1, 'live']);
    vi.advanceTimersByTime(44_999);
    expect(states.at(-1)).toBe('live');
    vi.advanceTimersByTime(1);
    expect([sockets[0]?.closed, states.at(-1)]).toEqual([true, 'reconnecting']);
    vi.advanceTimersByTime(1_000); // as it was good for something until then
    expect(socket().address).toBe('17');
    vi.advanceTimersByTime(45_000); // nobody takes up the call
    expect(sockets[1]?.closed).toBe(true);
    vi.advanceTimersByTime(2_000);
    expect(sockets).toHaveLength(3);
  });

  it('asks again when it cannot read what came', () => {
    socket().accept();
    socket().send({ events: [event(5)] });
    socket().sendText('{"events": [');
    expect(sockets[0]?.closed).toBe(true);
    vi.advanceTimersToNextTimer();
    expect(socket().address).toBe('5');
  });

  it('opens nothing more once it is disposed, twice even', () => {
    socket().drop();
    stream.dispose();
    stream.dispose();
    vi.advanceTimersByTime(120_000);
    expect(sockets).toHaveLength(1);
    expect(states.filter(state => state === 'closed')).toHaveLength(1);
  });

  it('closes its socket when it is disposed', () => {
    socket().accept();
    stream.dispose();
    expect(socket().closed).toBe(true);
  });
});
