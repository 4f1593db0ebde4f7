import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { IFoundLines } from '../src/contract';
import { AcaiError } from '../src/core/errors';
import { type ILogQuestion, LogSearch } from '../src/core/logSearch';
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
    const find = vi.fn(({ text }: ILogQuestion) =>
      Promise.resolve(answer(text))
    );
    const search = new LogSearch(find, () => undefined);
    search.look('e');
    await vi.advanceTimersByTimeAsync(100);
    search.look('er');
    expect(search.isAsking).toBe(true);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(find.mock.calls.map(([asked]) => asked.text)).toEqual(['er']);
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
    expect(find).toHaveBeenLastCalledWith(
      expect.objectContaining({ text: 'new' })
    );
    waiting[1]?.(answer('a new line'));
    await vi.advanceTimersByTimeAsync(0);
    expect(search.found?.lines[0]?.text).toBe('a new line');
  });

  it('says why there is no answer, and finds again', async () => {
    const find = vi.fn(({ text }: ILogQuestion) =>
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
    const find = vi.fn(({ text }: ILogQuestion) =>
      Promise.resolve(answer(text))
    );
    find.mockRejectedValueOnce(new AcaiError('unavailable', 'Away.', 503));
    const search = new LogSearch(find, () => undefined);
    search.look('a');
    await vi.runAllTimersAsync();
    expect([search.error, search.found?.count]).toEqual([null, 1]);
    expect(find).toHaveBeenCalledTimes(2);
  });

  it('goes nowhere while nothing is looked for, and by no hits of another text', async () => {
    const find = vi.fn(({ text, near = {} }: ILogQuestion) =>
      Promise.resolve({
        lines: [{ number: near.after === undefined ? 7 : 40, text }],
        count: 1,
        of: 99
      })
    );
    const search = new LogSearch(find, () => undefined);
    expect(await search.hit(0, 1)).toBeUndefined();
    expect(find).not.toHaveBeenCalled();
    search.look('los');
    await vi.advanceTimersByTimeAsync(1_000);
    search.look('loss');
    expect(await search.hit(0, 1)).toBe(40);
    expect(find.mock.lastCall).toEqual([{ text: 'loss', near: { after: 0 } }]);
  });

  it('asks once more for the same text when it is told to while it asks', async () => {
    const answers: ((found: IFoundLines) => void)[] = [];
    const find = () =>
      new Promise<IFoundLines>(resolve => answers.push(resolve));
    const search = new LogSearch(find, () => undefined);
    search.look('a');
    await vi.advanceTimersByTimeAsync(1_000);
    search.look('a'); // as its job has ended meanwhile
    await vi.advanceTimersByTimeAsync(1_000);
    answers[0]?.({ lines: [], count: 1, of: 9 });
    await vi.advanceTimersByTimeAsync(1_000);
    answers[1]?.({ lines: [], count: 2, of: 9 });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(search.found?.count).toBe(2);
  });

  it('asks nothing once it is disposed', async () => {
    const find = vi.fn(() => Promise.resolve(answer()));
    const search = new LogSearch(find, () => undefined);
    search.look('a');
    search.dispose();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(find).not.toHaveBeenCalled();
  });

  it('goes from one to the next behind those that are told, and begins anew', async () => {
    const all = Array.from({ length: 9 }, (_, at) => 10 * (at + 1));
    const find = vi.fn(({ text, near = {} }: ILogQuestion) => {
      const { after, before } = near;
      const told =
        after !== undefined
          ? all.filter(one => one > after).slice(0, 1)
          : before !== undefined
            ? all.filter(one => one < before).slice(-1)
            : all.slice(0, 3);
      const lines = told.map(number => ({ number, text }));
      return Promise.resolve({ lines, count: 9, of: 99, is_cut: false });
    });
    const search = new LogSearch(find, () => undefined);
    search.look('a');
    await vi.runAllTimersAsync();
    find.mockClear();
    expect(await search.hit(0, 1)).toBe(10);
    expect(await search.hit(20, -1)).toBe(10);
    expect(find).not.toHaveBeenCalled();
    expect(await search.hit(30, 1)).toBe(40);
    expect(await search.hit(55, -1)).toBe(50);
    expect(await search.hit(90, 1)).toBe(10);
    expect(await search.hit(10, -1)).toBe(90);
    expect(await search.hit(0, -1)).toBe(90);
  });

  it('has what is around it of a line that is cut before it', async () => {
    const found = {
      lines: [{ number: 7, text: 'needle', before: 5_000, more: 3 }],
      count: 1,
      of: 9
    };
    const search = new LogSearch(
      () => Promise.resolve(found),
      () => undefined
    );
    search.look('needle');
    await vi.runAllTimersAsync();
    expect(search.instead(7)).toEqual([
      { text: '', look: '', cut: 5_000 },
      { text: 'needle', look: '' },
      { text: '', look: '', cut: 3 }
    ]);
    search.look('');
    expect(search.instead(7)).toBeUndefined();
  });

  it('goes on by itself to the end of a long log, and shows what it has', async () => {
    const parts: [IFoundLines, IFoundLines] = [
      {
        lines: [{ number: 3, text: 'an err' }],
        count: 1,
        of: 5,
        is_cut: true,
        next: { offset: 50, lines: 5 }
      },
      {
        lines: [{ number: 8, text: 'another err' }],
        count: 1,
        of: 9,
        is_cut: false
      }
    ];
    const waiting: (() => void)[] = [];
    const find = vi.fn(
      (question: ILogQuestion) =>
        new Promise<IFoundLines>(resolve => {
          const part: 0 | 1 = question.from === undefined ? 0 : 1;
          waiting.push(() => {
            resolve(parts[part]);
          });
        })
    );
    const search = new LogSearch(find, () => undefined);
    search.look('err');
    await vi.advanceTimersByTimeAsync(1_000);
    waiting[0]?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(search.isAsking).toBe(true);
    expect(search.lines?.map(one => one.number)).toEqual([3]);
    expect(find.mock.lastCall?.[0].from).toEqual({ offset: 50, lines: 5 });
    waiting[1]?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(search.isAsking).toBe(false);
    expect(search.lines?.map(one => one.number)).toEqual([3, 8]);
    expect(search.found).toMatchObject({ count: 2, of: 9, is_cut: false });
  });

  it('aborts a search when something else is searched, and when it is closed', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const find = ({ signal }: ILogQuestion) =>
      new Promise<IFoundLines>((_, reject) => {
        signals.push(signal);
        signal?.addEventListener('abort', () => {
          reject(new DOMException('aborted', 'AbortError'));
        });
      });
    const search = new LogSearch(find, () => undefined);
    search.look('old');
    await vi.advanceTimersByTimeAsync(1_000);
    search.look('new');
    expect(signals.map(one => one?.aborted)).toEqual([true]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(signals.map(one => one?.aborted)).toEqual([true, false]);
    expect(search.error).toBeNull();
    search.dispose();
    expect(signals.map(one => one?.aborted)).toEqual([true, true]);
  });

  it('takes the last one of all parts for the one before a line', async () => {
    const find = ({ near, from }: ILogQuestion) =>
      Promise.resolve({
        lines:
          near === undefined
            ? [{ number: 90, text: 'loss' }]
            : [{ number: from === undefined ? 10 : 20, text: 'loss' }],
        count: near === undefined ? 2_000 : 1,
        of: 99,
        is_cut: true,
        next:
          near !== undefined && from === undefined
            ? { offset: 9, lines: 15 }
            : null
      });
    const search = new LogSearch(find, () => undefined);
    search.look('loss');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await search.hit(95, -1)).toBe(20);
  });
});
