import { describe, expect, it, vi } from 'vitest';

import { AcaiClient } from '../src/core/client';
import { answer, FakeTransport, makeStatus, nobody, refusal } from './fakes';

function clientFor(...answers: (() => Response)[]): AcaiClient {
  return new AcaiClient(new FakeTransport(answers));
}

describe('AcaiClient', () => {
  it('returns what the server says of itself', async () => {
    const status = makeStatus();
    expect(await clientFor(answer(status)).status()).toEqual(status);
  });

  it('gives an error of ours with its code, sentence and details', async () => {
    const body = {
      error: {
        code: 'job_not_found',
        message: 'No job 7.',
        details: { job: 7 }
      }
    };
    await expect(
      clientFor(answer(body, 404)).request('v1/projects/p/jobs/7')
    ).rejects.toMatchObject({
      code: 'job_not_found',
      message: 'No job 7.',
      status: 404,
      details: { job: 7 }
    });
  });

  it('says how to enable ACAI when the server does not know its routes', async () => {
    const missing = answer({ message: 'Not Found' }, 404);
    await expect(clientFor(missing).status()).rejects.toMatchObject({
      code: 'not_enabled',
      commands: [
        'pip install acai-jupyter',
        'jupyter server extension enable acai_server'
      ]
    });
  });

  it('takes a 404 in our own shape for what it says', async () => {
    const missing = refusal('project_not_found', 'There is no project.', 404);
    await expect(clientFor(missing).status()).rejects.toMatchObject({
      code: 'project_not_found'
    });
  });

  it('says that the server cannot be reached when nothing answers', async () => {
    await expect(clientFor(nobody).status()).rejects.toMatchObject({
      code: 'server_unreachable',
      message: expect.stringContaining('cannot be reached') as string
    });
  });

  it('does not wait for a server that hangs, but for what it was told to change', async () => {
    vi.useFakeTimers();
    const hangs = new AcaiClient({
      fetch: (_, { signal }) =>
        new Promise((_answer, fail) => {
          signal?.addEventListener('abort', () => {
            fail(new Error('aborted'));
          });
        }),
      openSocket: () => expect.fail('nobody follows')
    });
    const ended: string[] = [];
    for (const [method, path] of [
      ['GET', 'v1/status'],
      ['POST', 'v1/projects/default/find'],
      ['POST', 'v1/projects/default/jobs']
    ] as const) {
      hangs.request(path, { method }).catch((error: unknown) => {
        ended.push(`${path} ${String(error)}`);
      });
    }
    await vi.advanceTimersByTimeAsync(59_000);
    expect(ended).toEqual([]);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(ended).toEqual([
      expect.stringMatching(/^v1\/status .*has not answered for a minute/),
      expect.stringMatching(/\/find .*has not answered for a minute/)
    ]);
    vi.useRealTimers();
  });

  it.each([
    [403, /signed out/],
    [502, /does not answer/],
    [500, /status 500/]
  ])('has a sentence for a bare %d', async (status, sentence) => {
    const html = (): Response => new Response('<html>', { status });
    await expect(clientFor(html).status()).rejects.toThrow(sentence);
  });

  it('says to whom is signed out what to do in a page, not in a shell', async () => {
    const refused = refusal(
      'not_signed_in',
      'This needs a valid token. Set ACAI_TOKEN.',
      401
    );
    await expect(clientFor(refused).status()).rejects.toThrow(
      /^You are signed out\. Reload the page/
    );
  });

  it('does not take a page of HTML for an answer', async () => {
    const html = (): Response => new Response('<html>Sign in</html>');
    await expect(clientFor(html).status()).rejects.toMatchObject({
      code: 'unexpected_answer'
    });
  });

  it('opens the event stream of a project from a number on', () => {
    const transport = new FakeTransport([]);
    new AcaiClient(transport).openEvents('a b', 17);
    new AcaiClient(transport).openEvents('a b', null);
    expect(transport.sockets.map(socket => socket.address)).toEqual([
      'v1/projects/a%20b/events/stream?since=17',
      'v1/projects/a%20b/events/stream'
    ]);
  });

  it('waits as long as the server says when it makes too many requests', async () => {
    vi.useFakeTimers();
    const refused = () =>
      Response.json({}, { status: 429, headers: { 'Retry-After': '2' } });
    const transport = new FakeTransport([refused, refused, answer({ a: 1 })]);
    const asked = new AcaiClient(transport).request('v1/status');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(transport.paths).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(transport.paths).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await asked).toEqual({ a: 1 });
    vi.useRealTimers();
  });

  it('gives up on a server that refuses for half a minute', async () => {
    vi.useFakeTimers();
    const refused = () =>
      Response.json({}, { status: 429, headers: { 'Retry-After': '7' } });
    const transport = new FakeTransport([refused]);
    const asked = new AcaiClient(transport).request('v1/status');
    const outcome = expect(asked).rejects.toMatchObject({ status: 429 });
    await vi.advanceTimersByTimeAsync(60_000);
    await outcome;
    expect(transport.paths).toHaveLength(5);
    vi.useRealTimers();
  });
});
