import { describe, expect, it } from 'vitest';

import { findThing } from '../src/core/graphSource';

describe('What a text names', () => {
  /** A server with file sets and jobs by their names, which understands what it is asked here. */
  function serverOf(sets: string[], jobs: Record<string, string> = {}) {
    const queries: string[] = [];
    const find = (text: string) =>
      findThing(({ kind, query = '', limit = 100 }) => {
        queries.push(`${kind}: ${query}`);
        const [, operator = '', quoted = ''] =
          /^name (=|~) '(.*)'/.exec(query) ?? [];
        const pattern = quoted.replaceAll("''", "'");
        const isMeant = (name: string) =>
          operator === '='
            ? name === pattern
            : new RegExp(pattern.replace('(?i)', ''), 'i').test(name);
        const things =
          kind === 'file_set'
            ? sets.filter(one => isMeant(one.replace(/:\d+$/, '')))
            : Object.keys(jobs).filter(number =>
                operator === ''
                  ? query === `number = ${number}`
                  : isMeant(jobs[number] ?? '')
              );
        return Promise.resolve({
          kind,
          columns: [],
          rows: things.slice(0, limit).map(thing => ({ thing, values: [] }))
        });
      }, text);
    return { find, queries };
  }

  it('is the file set that is called so, else what begins so', async () => {
    const { find, queries } = serverOf(['a-raw:3', 'Rawer:1', 'raw:2']);
    expect(await find('raw')).toBe('raw:2');
    expect(await find('rAW:1')).toBe('raw:2');
    expect(await find('rawe')).toBe('Rawer:1');
    expect(await find('a-r')).toBe('a-raw:3');
    expect(await find('-raw')).toBe('a-raw:3');
    expect(queries.slice(0, 2)).toEqual([
      "file_set: name = 'raw' and latest = true",
      "file_set: name = 'rAW' and version = 1"
    ]);
  });

  it('is what is called so among however many that have it within', async () => {
    const many = Array.from({ length: 200 }, (_, at) => `a-raw${at}:1`);
    expect(await serverOf([...many, 'raw:2']).find('raw')).toBe('raw:2');
    expect(await serverOf([...many, 'Raw:2']).find('raw')).toBe('Raw:2');
    expect(await serverOf([...many, 'rawer:2']).find('raw')).toBe('rawer:2');
  });

  it('is a job by its number before sets that have the number within', async () => {
    const { find } = serverOf(['raw5:1'], { 5: 'train', 6: 'train' });
    expect(await find('5')).toBe('5');
    expect(await find('job 5')).toBe('5');
    expect(await find('raw5')).toBe('raw5:1');
    expect(await serverOf(['5:1'], { 5: '' }).find('5')).toBe('5:1');
  });

  it('is a job by its name, and a text is only a text', async () => {
    const { find, queries } = serverOf([], { 7: "say it's (a+b) twice" });
    expect(await find("it's (a+b)")).toBe('7');
    expect(await find('nobody')).toBe('');
    expect(queries[5]).toBe(String.raw`job: name ~ '(?i)it''s \(a\+b\)'`);
  });
});
