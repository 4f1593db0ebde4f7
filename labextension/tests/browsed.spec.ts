import type { Widget } from '@lumino/widgets';
import { describe, expect, it } from 'vitest';

import { selectedProgram } from '../src/cells/browsed';
import { relativePath } from '../src/core/specText';

interface IItem {
  path: string;
  type: string;
}

const NODE = {} as HTMLElement;

/** A part of the page around the node that was clicked, or beside it. */
function part(isAround: boolean, layout: Widget[], items?: IItem[]): Widget {
  return {
    node: { contains: () => isAround },
    layout,
    ...(items === undefined ? {} : { selectedItems: () => items })
  } as unknown as Widget;
}

function pageWith(...items: IItem[]): Widget[] {
  const other = part(false, [], [{ path: 'b.py', type: 'file' }]);
  return [other, part(true, [other, part(true, [], items)])];
}

describe('What is selected in a file browser', () => {
  it('is a program where it is one that can be started', () => {
    for (const path of ['train.py', 'lib/run.SH', 'a b.ipynb']) {
      expect(selectedProgram(pageWith({ path, type: 'file' }), NODE)).toBe(
        path
      );
    }
  });

  it('is none where it is something else, or several things', () => {
    const file = { path: 'train.py', type: 'file' };
    expect(selectedProgram(pageWith({ ...file, path: 'a.csv' }), NODE)).toBe(
      ''
    );
    expect(
      selectedProgram(pageWith({ ...file, type: 'directory' }), NODE)
    ).toBe('');
    for (const path of ['x\n!evil #.py', 'x\u2028evil.py', 'x\x85evil.py']) {
      expect(selectedProgram(pageWith({ ...file, path }), NODE)).toBe('');
    }
    expect(selectedProgram(pageWith(file, file), NODE)).toBe('');
    expect(selectedProgram(pageWith(), NODE)).toBe('');
    expect(selectedProgram([part(true, [])], NODE)).toBe('');
  });

  it('is called as it is seen from the notebook', () => {
    expect(relativePath('', 'train.py')).toBe('train.py');
    expect(relativePath('work/', 'work/lib/train.py')).toBe('lib/train.py');
    expect(relativePath('work/a/', 'work/b/train.py')).toBe('../b/train.py');
    expect(relativePath('work/', 'workshop/train.py')).toBe(
      '../workshop/train.py'
    );
  });
});
