import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { IFindThings, IFoundPage } from '../src/contract';
import { AcaiError } from '../src/core/errors';
import { JobPages, MOST_PAGES, PAGE } from '../src/core/jobPages';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A server with so many jobs, that keeps what it was asked; a query `bad` is none. */
function makeServer(count: number) {
  const asked: IFindThings[] = [];
  const counted: string[] = [];
  const server = { count, asked, counted, name: 'old', isAway: false };
  const find = (request: IFindThings): Promise<IFoundPage> => {
    asked.push(request);
    if (server.isAway) {
      return Promise.reject(new AcaiError('away', 'Not now.', 503));
    }
    if (request.query === 'bad') {
      const error = new AcaiError('bad_query', 'No query.', 400, { column: 1 });
      return Promise.reject(error);
    }
    const { limit = 100, after = '' } = request;
    const skip = after === '' ? (request.skip ?? 0) : Number(after);
    const end = Math.min(server.count, skip + limit);
    const rows = Array.from({ length: Math.max(0, end - skip) }, (_, at) => ({
      thing: String(server.count - skip - at),
      values: [server.name]
    }));
    return Promise.resolve({
      kind: 'job',
      columns: ['name'],
      rows,
      next: end < server.count ? String(end) : null
    });
  };
  const pages = new JobPages(
    {
      find,
      count: query => {
        counted.push(query);
        return Promise.resolve({ count: server.count });
      }
    },
    { query: '', order: [], columns: ['name'] }
  );
  return { server, pages };
}

async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(1_000);
}

describe('JobPages', () => {
  it('reads the first page, counts, and reads what is scrolled to and nothing between', async () => {
    const { server, pages } = makeServer(100_000);
    pages.setSeen(true);
    await settle();
    expect(pages.count).toBe(100_000);
    expect(pages.row(0)?.thing).toBe('100000');
    pages.want(70_010, 70_040);
    await settle();
    expect(pages.row(70_020)?.thing).toBe('29980');
    expect(pages.row(500)).toBeUndefined();
    expect(server.asked.map(one => one.skip)).toEqual([0, 70_000]);
  });

  it('asks nothing while nobody looks', async () => {
    const { server, pages } = makeServer(3);
    pages.doubt();
    await settle();
    expect(server.asked).toEqual([]);
  });

  it('reads again what can be seen when jobs change, however many do, and forgets the rest', async () => {
    const { server, pages } = makeServer(1_000);
    pages.setSeen(true);
    await settle();
    pages.want(250, 260);
    await settle();
    server.name = 'new';
    for (let number = 0; number < 50; number += 1) {
      pages.hear({
        number,
        kind: 'job_running',
        subject: 'job 3',
        created_at: ''
      });
    }
    pages.hear({
      number: 51,
      kind: 'job_progressed',
      subject: 'job 3',
      created_at: ''
    });
    await settle();
    expect(server.asked.length).toBe(3);
    expect(pages.row(255)?.values).toEqual(['new']);
    expect(pages.row(0)).toBeUndefined();
  });

  it('keeps its rows when a query is none, and says why', async () => {
    const { pages } = makeServer(5);
    pages.setSeen(true);
    await settle();
    await pages.choose({ query: 'bad' });
    expect(pages.error?.code).toBe('bad_query');
    expect(pages.row(0)?.thing).toBe('5');
    await pages.choose({ query: '' });
    expect(pages.error).toBeNull();
  });

  it('asks again what was not answered, by itself and when it is seen again', async () => {
    const { server, pages } = makeServer(5);
    pages.setSeen(true);
    await settle();
    server.isAway = true;
    server.name = 'new';
    pages.doubt();
    await settle();
    expect(pages.error?.message).toBe('Not now.');
    pages.setSeen(false);
    await vi.advanceTimersByTimeAsync(100_000);
    const before = server.asked.length;
    pages.setSeen(true);
    await settle();
    expect(server.asked.length).toBeGreaterThan(before);
    server.isAway = false;
    await vi.advanceTimersByTimeAsync(100_000);
    expect(pages.error).toBeNull();
    expect(pages.row(0)?.values).toEqual(['new']);
    pages.dispose();
  });

  it('says nothing of what was not answered and is not asked any more', async () => {
    const { server, pages } = makeServer(5);
    pages.setSeen(true);
    await settle();
    const bad = pages.choose({ query: 'bad' });
    const errors: unknown[] = [];
    pages.subscribe(() => errors.push(pages.error));
    await Promise.all([bad, pages.choose({ query: 'good' })]);
    expect(server.asked.map(one => one.query)).toEqual(['', 'bad', 'good']);
    expect(errors.filter(error => error !== null)).toEqual([]);
  });

  it('shows what was asked for last, whatever was answered last', async () => {
    const { server, pages } = makeServer(5);
    pages.setSeen(true);
    await settle();
    void pages.choose({ query: 'a' });
    void pages.choose({ query: 'ab' });
    pages.want(0, 4);
    await settle();
    expect(server.asked.at(-1)?.query).toBe('ab');
    expect(pages.shownListing.query).toBe('ab');
  });

  it('begins at the top of another query, and stays where it is in another order', async () => {
    const { server, pages } = makeServer(10 * PAGE);
    pages.setSeen(true);
    pages.want(5 * PAGE, 5 * PAGE + 20);
    await settle();
    await pages.choose({ order: [{ key: 'name', descending: true }] });
    expect(server.asked.at(-1)?.skip).toBe(5 * PAGE);
    await pages.choose({ query: 'x' });
    expect(server.asked.at(-1)?.skip).toBe(0);
  });

  it('tells all jobs of a range and of the list, also those that were never seen', async () => {
    const { pages } = makeServer(3_005);
    pages.setSeen(true);
    await settle();
    pages.want(2_990, 3_004);
    await settle();
    const top = pages.follow({ index: 0 });
    const end = pages.follow({ index: 3_004 });
    expect(await pages.between(end, top)).toHaveLength(3_005);
    expect(await pages.between({ index: 1_000 }, { index: 1_002 })).toEqual([
      '2005',
      '2004',
      '2003'
    ]);
    expect(await pages.all()).toHaveLength(3_005);
  });

  it('tells no jobs of a query that is not asked any more', async () => {
    const { pages } = makeServer(3_005);
    pages.setSeen(true);
    await settle();
    const all = pages.all();
    const range = pages.between({ index: 1_000 }, { index: 1_002 });
    void pages.choose({ query: 'x' });
    expect(await all).toEqual([]);
    expect(await range).toEqual([]);
  });

  it('keeps as many rows as are looked at, however far somebody scrolls', async () => {
    const { pages } = makeServer(100_000);
    pages.setSeen(true);
    await settle();
    for (let page = 0; page < 2 * MOST_PAGES; page += 1) {
      pages.want(page * PAGE, page * PAGE + 20);
      await settle();
    }
    expect(pages.rows).toHaveLength(MOST_PAGES * PAGE);
    expect(pages.row((2 * MOST_PAGES - 1) * PAGE)).toBeDefined();
    expect(pages.row(0)).toBeUndefined();
    pages.want(0, 20);
    await settle();
    expect(pages.valueOf(pages.row(0), 'name')).toBe('old');
  });

  it('reads all jobs once for all who ask meanwhile, and does not ask of them whether they are listed', async () => {
    const { server, pages } = makeServer(3_005);
    pages.setSeen(true);
    await pages.choose({ query: 'x' });
    server.asked.length = 0;
    const [all] = await Promise.all([pages.all(), pages.all()]);
    expect(server.asked).toHaveLength(4);
    server.counted.length = 0;
    await pages.countHidden([...all, '9000']);
    expect(server.counted).toEqual(['x and number in (9000)']);
  });

  it('follows a job that moves, and ends a range at it', async () => {
    const { server, pages } = makeServer(3_005);
    pages.setSeen(true);
    await settle();
    const place = pages.follow({ index: 1 });
    expect(place.thing).toBe('3004');
    server.count += 1;
    pages.doubt();
    await settle();
    expect(pages.follow(place)).toEqual({ index: 2, thing: '3004' });
    const far = { index: 2_000, thing: '1005' };
    const range = await pages.between(place, far);
    expect([range[0], range.at(-1)]).toEqual(['3004', '1005']);
  });
});
