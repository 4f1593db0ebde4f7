import { describe, expect, it, vi } from 'vitest';

import { AcaiError } from '../src/core/errors';
import { LogTail, MOST_LINES, TAIL_BYTES, textOf } from '../src/core/logTail';

const PAGE = 256 * 1024;

function tailOf(log: () => string, hasEnded = false) {
  const read = vi.fn((offset: number) => {
    const text = log().slice(offset, offset + PAGE);
    const next_offset = offset + text.length;
    const ended = hasEnded && next_offset === log().length;
    return Promise.resolve({ text, next_offset, ended });
  });
  const tail = new LogTail(read, () => undefined);
  return { tail, read, texts: () => tail.lines.map(textOf) };
}

describe('LogTail', () => {
  it('reads on from where it was', async () => {
    let log = 'one\ntwo\nth';
    const { tail, texts } = tailOf(() => log);
    await tail.advance(log.length);
    expect(texts()).toEqual(['one', 'two', 'th']);
    log += 'ree\n';
    await tail.advance(log.length);
    expect(texts()).toEqual(['one', 'two', 'three']);
  });

  it('begins near the end of a large log, with a whole line', async () => {
    const line = 'a line of a log that is long\n';
    const log = line.repeat(1_000_000);
    const { tail, read, texts } = tailOf(() => log, true);
    await tail.advance(log.length);
    expect(read.mock.calls.length).toBeLessThan(3);
    expect(tail.start).toBe(log.length - TAIL_BYTES);
    expect(new Set(texts())).toEqual(new Set([line.trimEnd()]));
    expect(tail.hasEnded).toBe(true);
  });

  it('keeps so many lines at most of one that grows and grows', async () => {
    let log = '';
    const { tail } = tailOf(() => log);
    for (let round = 0; round < 20; round += 1) {
      log += 'x\n'.repeat(1_000);
      await tail.advance(log.length);
    }
    expect(tail.lines.length).toBe(MOST_LINES);
    expect(tail.gone).toBe(20_000 - MOST_LINES);
  });

  it('reads the end that came while it was reading', async () => {
    let [log, hasEnded] = ['', false];
    const waiting: (() => void)[] = [];
    const read = async (offset: number) => {
      const [text, ended] = [log.slice(offset), hasEnded];
      await new Promise<void>(resolve => waiting.push(resolve));
      return { text, next_offset: offset + text.length, ended };
    };
    const tail = new LogTail(read, () => undefined);
    const reading = tail.advance(0);
    [log, hasEnded] = ['one\ntwo\n', true];
    void tail.advance(0);
    const freeing = setInterval(() => waiting.shift()?.(), 0);
    await reading;
    clearInterval(freeing);
    expect(tail.lines.map(textOf)).toEqual(['one', 'two']);
    expect(tail.hasEnded).toBe(true);
  });

  it('reads on by itself when it was not answered', async () => {
    vi.useFakeTimers();
    const { tail, read, texts } = tailOf(() => 'one\n', true);
    read.mockRejectedValueOnce(new AcaiError('unavailable', 'Away.', 503));
    await tail.advance(4);
    expect(tail.error?.message).toBe('Away.');
    await vi.runAllTimersAsync();
    vi.useRealTimers();
    expect([tail.error, texts()]).toEqual([null, ['one']]);
  });

  it('leaves out the lines that set tags', async () => {
    const log = '[ACAI_TAG] accuracy=1\nseen\n\x1e[ACAI_TAG] {}\n';
    const { tail, texts } = tailOf(() => log, true);
    await tail.advance(log.length);
    expect(texts()).toEqual(['seen']);
  });
});
