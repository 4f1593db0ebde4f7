import { describe, expect, it } from 'vitest';

import { AcaiError } from '../src/core/errors';
import { filesBelow, removeAll } from '../src/core/fileRemoval';

/** Files of which some are in a set, in pages of two; what was asked for. */
function project(files: string[], held: string[] = [], isAway = false) {
  const asked: string[] = [];
  return {
    asked,
    files: (spec: string, after: string) => {
      const folder = spec.replace('%40', '@');
      const all = files.filter(one => one.startsWith(folder) && one > after);
      const next = all.length > 2 ? (all[1] ?? null) : null;
      const entries = all
        .slice(0, 2)
        .map(path => ({ path, version: 1, size_bytes: 1, sha256: '' }));
      return Promise.resolve({ entries, next });
    },
    removeMany: (specs: readonly string[], undo: boolean) => {
      asked.push(`${undo ? 'back' : 'delete'} ${specs.join(' ')}`);
      if (isAway) {
        return Promise.reject(new AcaiError('server_unreachable', 'away', 0));
      }
      return Promise.resolve({
        removed: specs
          .filter(spec => !held.includes(spec))
          .map(spec => ({ path: spec.replace('%40', '@'), versions: [1] })),
        kept: specs
          .filter(spec => held.includes(spec))
          .map(spec => ({ spec, reason: `${spec} is held` }))
      });
    }
  };
}

describe('deleting files and folders', () => {
  it('finds all files below a folder, each once, however many pages they take', async () => {
    const all = ['/a@/1', '/a@/2', '/a@/b/3', '/a@/b/4', '/c'];
    const source = project(all);
    const below = await filesBelow(source, ['/a@/', '/a@/1', '/c']);
    expect(below.sort()).toEqual(all);
  });

  it('leaves what is refused, says why, and can bring back the rest', async () => {
    const source = project(['/a/1', '/a/2', '/a/3@'], ['/a/2']);
    const steps: number[] = [];
    const { done, kept } = await removeAll(
      source,
      ['/a/1', '/a/2', '/a/3@'],
      false,
      count => steps.push(count)
    );
    expect(done).toEqual(['/a/1', '/a/3@']);
    expect(kept).toEqual(['/a/2 is held']);
    expect(steps).toEqual([2]);
    expect(source.asked).toEqual(['delete /a/1 /a/2 /a/3%40']);
    await removeAll(source, done, true, () => undefined);
    expect(source.asked.at(-1)).toBe('back /a/1 /a/3%40');
  });

  it('takes many in one request, and tells how far it is after each', async () => {
    const paths = Array.from({ length: 450 }, (_, at) => `/${at}`);
    const source = project(paths, ['/7']);
    const steps: number[] = [];
    const { done, kept } = await removeAll(source, paths, false, count =>
      steps.push(count)
    );
    expect(done).toEqual(paths.filter(path => path !== '/7'));
    expect(kept).toEqual(['/7 is held']);
    expect(steps).toEqual([199, 399, 449]);
    expect(source.asked).toHaveLength(3);
  });

  it('ends when nothing answers any more', async () => {
    const source = project([], [], true);
    const { done, kept } = await removeAll(
      source,
      ['/a', '/b'],
      false,
      () => undefined
    );
    expect([done, kept]).toEqual([[], ['away']]);
    expect(source.asked).toEqual(['delete /a /b']);
  });
});
