import { describe, expect, it } from 'vitest';

import type { IFindThings, IFoundPage } from '../src/contract';
import { AcaiError } from '../src/core/errors';
import { FileVersions, makerOf } from '../src/core/fileVersions';
import { PagedList } from '../src/core/pagedList';
import { ThingSearch } from '../src/core/thingSearch';

const page = (request: IFindThings, thing: string): IFoundPage => ({
  kind: request.kind,
  columns: [],
  rows: [{ thing, values: [] }],
  next: null
});

describe('the search', () => {
  it('asks for things of all kinds, and shows only what the last query found', async () => {
    const waiting: (() => void)[] = [];
    const search = new ThingSearch(async request => {
      if (request.query === 'slow') {
        await new Promise<void>(resolve => waiting.push(resolve));
      }
      return page(request, `${request.kind} of ${request.query}`);
    });
    const slow = search.ask('slow');
    await search.ask('fast');
    waiting.forEach(resolve => {
      resolve();
    });
    await slow;
    const things = search.found.map(({ list }) => list.items[0]?.thing);
    expect(things).toEqual([
      'file_set of fast',
      expect.stringContaining('file of fast'),
      'job of fast'
    ]);
    await search.ask(' ');
    expect(search.found).toEqual([]);
  });

  it('is read on, and asked anew as far as it was read', async () => {
    const asked: (string | undefined)[] = [];
    const search = new ThingSearch(request => {
      if (request.kind === 'job') {
        asked.push(request.after);
      }
      const next = request.after === undefined ? 'one' : null;
      return Promise.resolve({ ...page(request, String(next)), next });
    });
    await search.ask('x = 1');
    const jobs = () => search.found.at(-1)?.list;
    await jobs()?.more();
    expect(jobs()?.hasMore).toBe(false);
    await search.ask('x = 1');
    expect(jobs()?.items).toHaveLength(2);
    expect(asked).toEqual([undefined, 'one', undefined, 'one']);
  });

  it('passes over the files that jobs ran, unless they are named', async () => {
    const asked: (string | undefined)[] = [];
    const search = new ThingSearch(request => {
      if (request.kind === 'file') {
        asked.push(request.query);
      }
      return Promise.resolve(page(request, 'x'));
    });
    await search.ask("creator = 'ann' order by created_at");
    await search.ask("path ~ '^/\\.code/'");
    expect(asked).toEqual([
      "creator = 'ann' and path !~ '^/\\.(code|variables)/' order by created_at",
      "path ~ '^/\\.code/'"
    ]);
  });

  it('faults a query that no kind of things understands, and no other', async () => {
    const search = new ThingSearch(request =>
      request.query === 'none' || request.kind === 'file'
        ? Promise.reject(new AcaiError('bad_query', 'What?', 400))
        : Promise.resolve(page(request, 'x'))
    );
    await search.ask('some');
    expect(search.fault).toBeNull();
    await search.ask('none');
    expect(search.fault?.message).toBe('What?');
  });
});

describe('a list of pages', () => {
  const numbers = () => {
    const state = { last: 5, asked: 0 };
    const list = new PagedList<number, number>(after => {
      state.asked += 1;
      const from = (after ?? 0) + 1;
      const items = [from, from + 1].filter(one => one <= state.last);
      const end = from + 1;
      return Promise.resolve({ items, next: end < state.last ? end : null });
    });
    return { state, list };
  };

  it('is read on when more is wanted', async () => {
    const { list } = numbers();
    await list.refresh();
    expect(list.items).toEqual([1, 2]);
    await list.more();
    await list.more();
    expect(list.items).toEqual([1, 2, 3, 4, 5]);
    expect(list.hasMore).toBe(false);
  });

  it('is read anew as far as it was read', async () => {
    const { list, state } = numbers();
    await list.refresh();
    await list.more();
    state.last = 9;
    state.asked = 0;
    await list.refresh();
    expect(list.items).toEqual([1, 2, 3, 4]);
    expect(state.asked).toBe(2);
  });

  it('has no page twice when more is wanted twice', async () => {
    const { list, state } = numbers();
    await Promise.all([list.ask(), list.ask()]);
    expect(state.asked).toBe(1);
    await Promise.all([list.more(), list.more()]);
    expect(list.items).toEqual([1, 2, 3, 4]);
    expect(state.asked).toBe(2);
  });

  it('drops what comes after it was read anew and ends elsewhere', async () => {
    const { list, state } = numbers();
    await list.refresh();
    const more = list.more();
    state.last = 2;
    await list.refresh();
    await more;
    expect(list.items).toEqual([1, 2]);
  });

  it('is asked for until it is there, and once more after a refusal only when somebody insists', async () => {
    let asked = 0;
    let status = 0;
    const list = new PagedList<number, number>(() => {
      asked += 1;
      return status === 200
        ? Promise.resolve({ items: [1], next: null })
        : Promise.reject(new AcaiError('no', 'No.', status));
    });
    for (status of [0, 503, 401, 404]) {
      await list.ask();
    }
    expect(asked).toBe(4);
    status = 200;
    await list.ask();
    expect(asked).toBe(4);
    list.insist();
    await list.ask();
    await list.ask();
    expect(list.items).toEqual([1]);
    expect(asked).toBe(5);
  });

  it('keeps what it has when it cannot be read', async () => {
    let isAway = false;
    const list = new PagedList<number, number>(() =>
      isAway
        ? Promise.reject(new AcaiError('away', 'Nobody answers.', 0))
        : Promise.resolve({ items: [1], next: null })
    );
    await list.refresh();
    isAway = true;
    await list.refresh();
    expect(list.items).toEqual([1]);
    expect(list.error?.message).toBe('Nobody answers.');
  });
});

describe('the versions of a file', () => {
  it('say which job made each, also of a file with signs in its name', async () => {
    const asked: string[] = [];
    const file = new FileVersions(
      {
        versions: spec => {
          asked.push(spec);
          const one = {
            path: '/a:b',
            version: 2,
            size_bytes: 1,
            sha256: 'aa',
            created_at: '2026-11-19T00:00:00Z',
            creator: 'ann',
            storage: 'frequent' as const
          };
          return Promise.resolve({ path: '/a:b', versions: [one] });
        },
        origin: spec => {
          asked.push(spec);
          return Promise.reject(new Error('It is in no set.'));
        }
      },
      '/a:b'
    );
    await file.refresh();
    await file.trace();
    expect(asked).toEqual(['/a%3Ab', '/a%3Ab:2']);
    expect(makerOf(file.originOf(2))).toEqual({ words: '', job: null });
  });
});
