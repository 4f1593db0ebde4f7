import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { AcaiClient } from '../src/core/client';
import {
  type ConnectionState,
  ConnectionStore,
  type IChoice
} from '../src/core/connectionStore';
import { EventStreams } from '../src/core/eventStreams';
import { answer, FakeTransport, makeStatus, nobody, refusal } from './fakes';

let transport: FakeTransport;
let states: ConnectionState[];
let events: number[];
let store: ConnectionStore;

beforeEach(() => {
  vi.useFakeTimers();
  transport = new FakeTransport([answer(makeStatus())]);
  states = [];
  events = [];
  open();
});

/** A store with nothing asked yet. */
function open(choice?: IChoice, onReload: () => void = () => undefined): void {
  const client = new AcaiClient(transport);
  const streams = new EventStreams(
    (project, since) => client.openEvents(project, since),
    (project, since) => client.events(project, since)
  );
  store = new ConnectionStore(
    client,
    streams,
    {
      onState: state => states.push(state),
      onEvent: event => events.push(event.number),
      onReload
    },
    choice
  );
}

afterEach(() => {
  store.dispose();
  vi.useRealTimers();
});

/** Let everything happen that waits for nothing but promises. */
async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

describe('ConnectionStore', () => {
  it('asks nothing before it is told to connect', () => {
    expect(store.state).toEqual({ kind: 'idle' });
    expect(transport.paths).toEqual([]);
  });

  it('reads the status once, then opens the event stream', async () => {
    await Promise.all([store.connect(), store.connect()]);
    await store.connect();
    expect(transport.paths).toEqual(['v1/status']);
    expect(transport.sockets).toHaveLength(1);
    expect(store.state).toMatchObject({
      kind: 'connected',
      stream: 'connecting'
    });
    transport.socket.accept();
    expect(store.state).toMatchObject({ stream: 'live' });
  });

  it('opens no stream when there is no status', async () => {
    transport.answers = [nobody];
    await store.connect();
    expect(store.state).toMatchObject({
      kind: 'unavailable',
      error: { code: 'server_unreachable' }
    });
    expect(transport.sockets).toHaveLength(0);
  });

  it('keeps the last error in sight while it tries again', async () => {
    transport.answers = [refusal('settings_broken', 'Fix it.', 503)];
    await store.connect();
    transport.answers = [answer(makeStatus())];
    const again = store.connect();
    expect(store.state).toMatchObject({
      kind: 'loading',
      error: { message: 'Fix it.' }
    });
    await again;
    expect(store.state.kind).toBe('connected');
  });

  it('waits for a server that is still starting', async () => {
    const starting = refusal('not_ready', 'ACAI is still starting.', 503);
    transport.answers = [starting, starting, answer(makeStatus())];
    const connecting = store.connect();
    await vi.advanceTimersByTimeAsync(2_000);
    await connecting;
    expect(store.state.kind).toBe('connected');
    expect(states.map(state => state.kind)).not.toContain('unavailable');
  });

  it('says so when the server never finishes starting', async () => {
    transport.answers = [refusal('not_ready', 'ACAI is still starting.', 503)];
    void store.connect();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(store.state).toMatchObject({
      kind: 'unavailable',
      error: { code: 'not_ready' }
    });
  });

  it('reads the status anew when the server is back', async () => {
    await store.connect();
    transport.socket.accept();
    transport.socket.send({ events: [], last: 3 });
    transport.answers = [answer(makeStatus({ version: '0.2.0' }))];
    transport.socket.drop();
    expect(store.state).toMatchObject({ stream: 'reconnecting' });
    vi.advanceTimersToNextTimer();
    expect(transport.socket.address).toContain('since=3');
    transport.socket.accept();
    await settle();
    expect(store.state).toMatchObject({
      kind: 'connected',
      stream: 'live',
      status: { version: '0.2.0' }
    });
  });

  it('follows the events of another project when the server has changed to it', async () => {
    await store.connect();
    transport.socket.accept();
    transport.answers = [answer(makeStatus({ project: 'other' }))];
    transport.socket.drop();
    vi.advanceTimersToNextTimer();
    const old = transport.socket;
    old.accept();
    await settle();
    expect(old.closed).toBe(true);
    expect(transport.socket.address).toBe('v1/projects/other/events/stream');
  });

  it.each([
    ['goes on reconnecting when the server is gone again', nobody, 'connected'],
    [
      'goes on reconnecting when the server is stopping',
      refusal('unavailable', 'The server is stopping.', 503),
      'connected'
    ],
    [
      'says what is wrong when the server came back broken',
      refusal('settings_broken', 'Fix it.', 503),
      'unavailable'
    ]
  ])('%s', async (_, reply, kind) => {
    await store.connect();
    transport.socket.accept();
    transport.answers = [reply];
    transport.socket.drop();
    vi.advanceTimersToNextTimer();
    transport.socket.accept();
    await settle();
    expect(store.state.kind).toBe(kind);
    expect(transport.socket.closed).toBe(kind === 'unavailable');
  });

  it.each([
    ['not_signed_in', 401],
    ['store_mismatch', 503],
    ['store_unclaimed', 503],
    ['database_newer', 503],
    ['database_broken', 503]
  ])('says why sockets are refused: %s', async (code, status) => {
    await store.connect();
    transport.socket.accept();
    transport.answers = [refusal(code, 'Set ACAI_TOKEN.', status)];
    for (let failures = 0; failures < 2; failures += 1) {
      transport.socket.drop();
      await vi.advanceTimersByTimeAsync(5_000);
    }
    expect(store.state).toMatchObject({
      kind: 'unavailable',
      error: { code }
    });
    const { length } = transport.sockets;
    await vi.advanceTimersByTimeAsync(120_000);
    expect(transport.sockets).toHaveLength(length);
    transport.answers = [answer(makeStatus())];
    await store.connect();
    expect(store.state.kind).toBe('connected');
  });

  it('passes events on', async () => {
    await store.connect();
    transport.socket.accept();
    transport.socket.send({ events: [{ number: 8 }] });
    expect(events).toEqual([8]);
  });

  it('is silent once it is disposed', async () => {
    const connecting = store.connect();
    store.dispose();
    const told = states.length;
    await connecting;
    expect(states).toHaveLength(told);
    expect(transport.sockets).toHaveLength(0);
  });

  it('shows another project when one is chosen, and remembers it', async () => {
    const kept: string[] = [];
    const read = () => Promise.resolve('');
    let reloads = 0;
    open({ read, keep: name => kept.push(name) }, () => (reloads += 1));
    await store.connect();
    transport.socket.accept();
    transport.answers = [answer(makeStatus()), answer(inVision)];
    await store.choose('vision');
    expect(transport.paths).toEqual([
      'v1/status',
      'v1/status',
      'v1/projects/vision/status'
    ]);
    expect(store.state).toMatchObject({
      usual: 'default',
      status: { project: 'vision', user: { role: 'viewer' } }
    });
    expect(transport.sockets[0]?.closed).toBe(true);
    expect(transport.socket.address).toContain('projects/vision/events');
    expect(kept).toEqual(['vision']);
    expect(reloads).toBe(1);
    transport.answers = [answer(makeStatus()), answer(makeStatus())];
    await store.choose('default');
    expect(store.state).toMatchObject({ status: { project: 'default' } });
    expect(kept).toEqual(['vision', '']);
  });

  it('stays where it is when one may not see what is chosen', async () => {
    await store.connect();
    transport.answers = [answer(makeStatus()), gone];
    await expect(store.choose('vision')).rejects.toMatchObject({
      code: 'project_not_found'
    });
    expect(store.state).toMatchObject({ status: { project: 'default' } });
    expect(transport.sockets[0]?.closed).toBe(false);
  });

  it('shows the last of two that are chosen, whichever answer comes first', async () => {
    await store.connect();
    let late: (response: Response) => void = () => undefined;
    const fetch = transport.fetch.bind(transport);
    transport.fetch = path =>
      path.includes('vision')
        ? new Promise(resolve => (late = resolve))
        : fetch(path);
    transport.answers = [answer(makeStatus())];
    const first = store.choose('vision');
    await settle();
    await store.choose('default');
    late(answer(inVision)());
    await first;
    expect(store.state).toMatchObject({ status: { project: 'default' } });
  });

  it('begins with the project that was chosen last', async () => {
    open({ read: () => Promise.resolve('vision'), keep: () => undefined });
    transport.answers = [answer(makeStatus()), answer(inVision)];
    await store.connect();
    expect(store.state).toMatchObject({ status: { project: 'vision' } });
    expect(store.missing).toBe('');
  });

  it('shows the usual project when the one chosen last is not there any more', async () => {
    open({ read: () => Promise.resolve('vision'), keep: () => undefined });
    transport.answers = [answer(makeStatus()), gone];
    await store.connect();
    expect(store.state).toMatchObject({ status: { project: 'default' } });
    expect(store.missing).toBe('vision');
  });
});

const inVision = makeStatus({
  project: 'vision',
  user: { name: 'you', role: 'viewer' }
});
const gone = refusal(
  'project_not_found',
  "There is no project 'vision' for you.",
  404
);
