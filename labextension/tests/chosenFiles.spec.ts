import { describe, expect, it } from 'vitest';

import { ChosenFiles } from '../src/core/chosenFiles';

describe('chosen files', () => {
  it('are chosen no more when they are deleted, nor are folders of which nothing is left', () => {
    const chosen = new ChosenFiles();
    chosen.choose(new Set(['/a.txt', '/b.txt', '/full/', '/held/']));
    const asked = ['/a.txt', '/b.txt', '/full/1', '/held/1', '/held/2'];
    chosen.remove(asked, ['/a.txt', '/full/1', '/held/1']);
    expect([...chosen.paths]).toEqual(['/b.txt', '/held/']);
    expect(chosen.deleted).toEqual(['/a.txt', '/full/1', '/held/1']);
  });

  it('come back in the order in which they went, the last ones first', () => {
    const chosen = new ChosenFiles();
    chosen.remove(['/a', '/b'], ['/a', '/b']);
    chosen.remove(['/c'], ['/c']);
    chosen.remove(['/kept'], []);
    expect(chosen.deleted).toEqual(['/c']);
    chosen.restore(['/c']);
    expect(chosen.deleted).toEqual(['/a', '/b']);
    chosen.restore(['/b']);
    expect(chosen.deleted).toEqual(['/a']);
  });
});
