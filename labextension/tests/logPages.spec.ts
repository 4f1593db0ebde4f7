import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { AcaiError } from '../src/core/errors';
import { nextHit } from '../src/core/logHits';
import { logLink, placeIn } from '../src/core/logLink';
import { LogPages, PAGE_LINES } from '../src/core/logPages';
import {
  anchorAt,
  anchorOn,
  heightOf,
  HIGHEST_PX,
  linesAround,
  scrollOf
} from '../src/core/logScroll';
import { textOf } from '../src/core/logTail';

function pagesOf(lines: () => readonly string[]) {
  const read = vi.fn((first: number, limit: number) => {
    const found = lines()
      .slice(first - 1, first - 1 + limit)
      .map((text, at) => ({ number: first + at, text }));
    return Promise.resolve({
      lines: found,
      count: found.length,
      of: lines().length
    });
  });
  const pages = new LogPages(read, () => undefined);
  const text = (number: number) => {
    const line = pages.line(number);
    return line === undefined ? undefined : textOf(line);
  };
  return { pages, read, text };
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `line ${at + 1}`);
}

describe('LogPages', () => {
  it('reads its end, and else only what can be seen', async () => {
    const all = numbered(1_000_000);
    const { pages, read, text } = pagesOf(() => all);
    await pages.advance();
    expect(pages.count).toBe(1_000_000);
    expect(text(1_000_000)).toBe('line 1000000');
    expect(read.mock.calls.length).toBeLessThanOrEqual(3);
    pages.want(500_001, 500_020, false);
    await vi.waitFor(() => {
      expect(text(500_001)).toBe('line 500001');
    });
    expect(read.mock.calls.length).toBeLessThanOrEqual(4);
  });

  it('holds no more than some pages, wherever somebody has been', async () => {
    const all = numbered(20_000);
    const { pages, text } = pagesOf(() => all);
    await pages.advance();
    for (let first = 1; first < 20_000; first += PAGE_LINES) {
      pages.want(first, first + 20, false);
      await vi.waitFor(
        () => {
          expect(text(first)).toBe(`line ${first}`);
        },
        { interval: 1 }
      );
    }
    const held = all.filter((_, at) => text(at + 1) !== undefined);
    expect(held.length).toBeLessThanOrEqual(45 * PAGE_LINES);
  });

  it('has what comes, and the rest of a line that had not ended', async () => {
    let all = [...numbered(PAGE_LINES - 1), 'begun'];
    const { pages, text } = pagesOf(() => all);
    await pages.advance();
    all = [...numbered(PAGE_LINES - 1), 'begun and ended', 'more', 'and more'];
    await pages.advance();
    expect(text(PAGE_LINES)).toBe('begun and ended');
    expect(text(PAGE_LINES + 2)).toBe('and more');
    all = all.slice(0, 3);
    await pages.advance();
    expect([pages.count, text(3), text(4)]).toEqual([3, 'line 3', undefined]);
  });

  it('shows each line as a terminal leaves it', async () => {
    const { pages } = pagesOf(() => [
      '\x1b[31mred',
      'still',
      '\x1b[0m1 %\r99 %'
    ]);
    await pages.advance();
    expect([pages.line(1), pages.line(2), pages.line(3)]).toEqual([
      [{ text: 'red', look: 'ink-red' }],
      [{ text: 'still', look: 'ink-red' }],
      [{ text: '99 %', look: '' }]
    ]);
  });

  it('says why nothing came, and asks again when there is more', async () => {
    const { pages, read } = pagesOf(() => ['one']);
    read.mockRejectedValueOnce(new Error('away'));
    await pages.advance();
    expect([pages.error === null, pages.count]).toEqual([false, null]);
    await pages.advance();
    expect([pages.error, pages.count]).toEqual([null, 1]);
  });
});

describe('A log that was not answered', () => {
  const away = new AcaiError('server_unreachable', 'Away.', 0);
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is asked for again by itself, and not each time that it is drawn', async () => {
    const { pages, read, text } = pagesOf(() => numbered(1_000));
    await pages.advance();
    read.mockClear();
    read.mockRejectedValueOnce(away).mockRejectedValueOnce(away);
    for (let drawn = 0; drawn < 9; drawn += 1) {
      pages.want(401, 420, false);
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(pages.error?.message).toBe('Away.');
    expect(read).toHaveBeenCalledTimes(1);
    await vi.runAllTimersAsync();
    expect([pages.error, text(401)]).toEqual([null, 'line 401']);
  });

  it('is asked for at once when somebody says so, and no more when it is gone', async () => {
    const { pages, read } = pagesOf(() => ['one']);
    read.mockRejectedValueOnce(away).mockRejectedValueOnce(away);
    await pages.advance();
    expect(vi.getTimerCount()).toBe(1);
    pages.tryAgain();
    await vi.advanceTimersByTimeAsync(0);
    expect(read).toHaveBeenCalledTimes(2);
    pages.dispose();
    await vi.runAllTimersAsync();
    expect(read).toHaveBeenCalledTimes(2);
  });
});

describe('The place in a log', () => {
  const small = { count: 1_000, rowPx: 20, viewPx: 300 };
  const huge = { count: 100_000_000, rowPx: 20, viewPx: 300 };

  it('is that of the scrollbar where lines are of one height', () => {
    expect(heightOf(small)).toBe(20_000);
    for (const px of [0, 1, 777, 19_700]) {
      const anchor = anchorAt(px, small);
      expect(anchor.at * 20 - anchor.y).toBeCloseTo(px);
      expect(scrollOf(anchor, small)).toBeCloseTo(px);
    }
  });

  it('reaches each end where the scrollbar is shorter than the log', () => {
    expect(heightOf(huge)).toBe(HIGHEST_PX);
    expect(anchorAt(0, huge)).toEqual({ at: 0, y: 0 });
    const end = anchorAt(HIGHEST_PX - 300, huge);
    expect(end.at).toBe(huge.count - 1);
    expect(end.y).toBeCloseTo(280);
    const [first, last] = linesAround(end, huge);
    expect(last).toBe(huge.count);
    expect(last - first).toBeLessThan(50);
    const middle = anchorAt(HIGHEST_PX / 3, huge);
    expect(scrollOf(middle, huge)).toBeCloseTo(HIGHEST_PX / 3);
  });

  it('shows the line that is gone to, and as many around it as are seen', () => {
    for (const line of [0, 3, 500, 998, 999]) {
      const anchor = anchorOn(line, small);
      expect(anchor.at).toBe(line);
      expect(anchor.y).toBeGreaterThanOrEqual(0);
      expect(anchor.y).toBeLessThanOrEqual(280);
      const [first, last] = linesAround(anchor, small);
      expect(first).toBeLessThanOrEqual(Math.max(0, line - anchor.y / 20));
      expect(last).toBeGreaterThanOrEqual(
        Math.min(1_000, line + (300 - anchor.y) / 20)
      );
    }
    expect(anchorOn(5_000, small).at).toBe(999);
  });
});

describe('A link to a line', () => {
  const place = { job: 12, attempt: 2, line: 3456, project: 'a&b=c' };

  it('leads where it was made', () => {
    const link = logLink('http://here/lab', place);
    expect(placeIn(new URL(link).search)).toEqual(place);
    expect(placeIn('?acai-job=1&acai-line=2')).toEqual({
      job: 1,
      attempt: 0,
      line: 2,
      project: ''
    });
  });

  it.each([
    '',
    '?acai-job=1',
    '?acai-job=0&acai-line=1',
    '?acai-job=-1&acai-line=1',
    '?acai-job=1e3&acai-line=1',
    '?acai-job=1&acai-line=<img src=x>',
    '?acai-job=1&acai-line=99999999999999999999',
    '?acai-job=1&acai-line=1&acai-attempt=x',
    `?acai-job=1&acai-line=1&acai-project=${'x'.repeat(201)}`
  ])('is none that anybody wrote: %s', parameters => {
    expect(placeIn(parameters)).toBeNull();
  });
});

describe('nextHit', () => {
  it('goes from one to the next and begins anew behind the last', () => {
    const hits = [3, 7, 9];
    expect([0, 3, 8, 9].map(from => nextHit(hits, from, 1))).toEqual([
      3, 7, 9, 3
    ]);
    expect([9, 4, 3].map(from => nextHit(hits, from, -1))).toEqual([7, 3, 9]);
    expect(nextHit([], 1, 1)).toBeUndefined();
  });
});
