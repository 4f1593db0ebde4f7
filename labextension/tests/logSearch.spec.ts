import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { IFoundLines } from '../src/contract';
import { AcaiError } from '../src/core/errors';
import { LogSearch } from '../src/core/logSearch';
import { textOf } from '../src/core/logTail';

function answer(...texts: string[]): IFoundLines {
  const lines = texts.map((text, at) => ({ number: at + 1, text }));
  return { lines, count: texts.length, of: 9, is_cut: false };
}

describe('LogSearch', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  it('asks for what was typed last, when nobody types', async () => {
    const find = vi.fn((text: string) => Promise.resolve(answer(text)));
    const search = new LogSearch(find, () => undefined);
    search.look('e');
    await vi.advanceTimersByTimeAsync(100);
    search.look('er');
    expect(search.isAsking).toBe(true);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(find.mock.calls).toEqual([['er']]);
    expect(search.isAsking).toBe(false);
    expect(search.lines?.map(one => textOf(one.line))).toEqual(['er']);
    search.look('');
    expect(search.lines).toBeNull();
    expect(search.isAsking).toBe(false);
  });

  it('shows no answer to an older question', async () => {
    const waiting: ((found: IFoundLines) => void)[] = [];
    const find = vi.fn(
      () => new Promise<IFoundLines>(resolve => waiting.push(resolve))
    );
    const search = new LogSearch(find, () => undefined);
    search.look('old');
    await vi.advanceTimersByTimeAsync(1_000);
    search.look('new');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(find).toHaveBeenCalledTimes(1);
    waiting[0]?.(answer('an old line'));
    await vi.advanceTimersByTimeAsync(0);
    expect(search.lines).toBeNull();
    expect(find).toHaveBeenLastCalledWith('new');
    waiting[1]?.(answer('a new line'));
    await vi.advanceTimersByTimeAsync(0);
    expect(search.found?.lines[0]?.text).toBe('a new line');
  });

  it('says why there is no answer, and finds again', async () => {
    const find = vi.fn((text: string) =>
      text === 'a'
        ? Promise.reject(new Error('away'))
        : Promise.resolve(answer(text))
    );
    const search = new LogSearch(find, () => undefined);
    search.look('a');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(search.error).not.toBeNull();
    search.look('b');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(search.error).toBeNull();
    expect(search.found?.count).toBe(1);
  });

  it('asks again by itself for what was not answered', async () => {
    const find = vi.fn((text: string) => Promise.resolve(answer(text)));
    find.mockRejectedValueOnce(new AcaiError('unavailable', 'Away.', 503));
    const search = new LogSearch(find, () => undefined);
    search.look('a');
    await vi.runAllTimersAsync();
    expect([search.error, search.found?.count]).toEqual([null, 1]);
    expect(find).toHaveBeenCalledTimes(2);
  });

  it('asks nothing once it is disposed', async () => {
    const find = vi.fn(() => Promise.resolve(answer()));
    const search = new LogSearch(find, () => undefined);
    search.look('a');
    search.dispose();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(find).not.toHaveBeenCalled();
  });
});
