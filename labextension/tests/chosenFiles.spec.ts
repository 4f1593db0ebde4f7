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
    chosen.restore(chosen.deleted, ['/c']);
    expect(chosen.deleted).toEqual(['/a', '/b']);
    chosen.restore(chosen.deleted, ['/b']);
    expect(chosen.deleted).toEqual(['/a']);
  });

  it('come back as they were asked for, whatever is deleted meanwhile', () => {
    const chosen = new ChosenFiles();
    chosen.remove(['/a'], ['/a']);
    const group = chosen.deleted;
    chosen.remove(['/b'], ['/b']);
    chosen.restore(group, ['/a']);
    expect(chosen.deleted).toEqual(['/b']);
    chosen.restore(chosen.deleted, ['/b']);
    expect(chosen.deleted).toEqual([]);
    expect(chosen.isRefused).toBe(false);
  });

  it('that do not come back can be dismissed, so that earlier ones come next', () => {
    const chosen = new ChosenFiles();
    chosen.remove(['/a'], ['/a']);
    chosen.remove(['/b', '/c'], ['/b', '/c']);
    expect(chosen.isRefused).toBe(false);
    chosen.restore(chosen.deleted, ['/b']);
    expect([chosen.deleted, chosen.isRefused]).toEqual([['/c'], true]);
    chosen.dismiss();
    expect([chosen.deleted, chosen.isRefused]).toEqual([['/a'], false]);
  });
});
