import { YNotebook } from '@jupyter/ydoc';
import { Signal } from '@lumino/signaling';
import { applyUpdate, encodeStateAsUpdate } from 'yjs';
import { describe, expect, it } from 'vitest';

import { rewrite } from '../src/cells/sharedCells';
import type { ICell, INotebook } from '../src/cells/notebook';
import { beginJob, runsAsJob, toggleRunAsJob } from '../src/cells/runAsJob';
import { useAsInput } from '../src/cells/useAsInput';
import { secondRun } from '../src/core/runCell';
import { changeBetween } from '../src/core/textChange';

const LOAD = '%load_ext acai_jupyter';

/** A notebook in one of several pages, on JupyterLab's own shared document. */
class Page {
  constructor() {
    this.document.changed.connect(() => {
      this.cellsChanged.emit(null);
    });
  }

  readonly document = new YNotebook();
  active = 0;

  get sources(): string[] {
    return this.document.cells.map(one => one.getSource());
  }

  get cells(): ICell[] {
    return this.document.cells.map(shared => {
      const known = this.widgets.get(shared) ?? cellOf(shared);
      this.widgets.set(shared, known);
      return known;
    });
  }

  cell(at: number): ICell {
    const found = this.cells[at];
    if (found === undefined) {
      throw new Error(`there is no cell ${at}`);
    }
    return found;
  }

  get asNotebook(): INotebook {
    // eslint-disable-next-line @typescript-eslint/no-this-alias -- getters of the content speak of it
    const page = this;
    return {
      isDisposed: false,
      content: {
        get widgets() {
          return page.cells;
        },
        get activeCell() {
          return page.cells[page.active] ?? null;
        },
        get activeCellIndex() {
          return page.active;
        },
        set activeCellIndex(at: number) {
          page.active = at;
        },
        activate: () => undefined
      },
      context: {
        path: 'Untitled.ipynb',
        model: {
          defaultKernelLanguage: 'python',
          readOnly: false,
          cells: { changed: this.cellsChanged },
          sharedModel: this.document
        }
      }
    } as unknown as INotebook;
  }

  private readonly cellsChanged = new Signal<unknown, unknown>({});
  private readonly widgets = new Map<object, ICell>();
}

function cellOf(shared: YNotebook['cells'][number]): ICell {
  return {
    model: {
      type: 'code',
      executionCount: null,
      contentChanged: shared.changed,
      stateChanged: shared.changed,
      sharedModel: shared
    },
    isDisposed: false
  } as unknown as ICell;
}

/** The same notebook in as many pages as are asked for. */
function pagesOf(count: number, ...sources: string[]): Page[] {
  const pages = Array.from({ length: count }, () => new Page());
  pages[0]?.document.insertCells(
    0,
    sources.map(source => ({ cell_type: 'code', source }))
  );
  return pages;
}

/** What each page wrote reaches all others, at once, and so does what they do about that. */
async function meet(pages: Page[]): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    const written = pages.map(({ document }) => document.ydoc);
    const updates = written.map(one => encodeStateAsUpdate(one));
    for (const document of written) {
      for (const update of updates) {
        applyUpdate(document, update);
      }
    }
    await Promise.resolve();
  }
}

async function pressTogether(
  count: number,
  sources: string[],
  press: (page: Page, number: number) => void
): Promise<string[]> {
  const pages = pagesOf(count, ...sources);
  await meet(pages);
  pages.forEach(press);
  await meet(pages);
  const [first, ...others] = pages.map(one => one.sources);
  for (const other of others) {
    expect(other).toEqual(first);
  }
  return first ?? [];
}

describe('Several who make one cell a job before they hear of each other', () => {
  const toggle = (page: Page) => {
    toggleRunAsJob(
      page.asNotebook,
      page.cell(page.active),
      '',
      runsAsJob(page.asNotebook)
    );
  };

  it.each([2, 3])(
    'write one line and one cell, when they are %i',
    async count => {
      const left = await pressTogether(count, ['print(1)'], toggle);
      expect(left).toEqual([LOAD, '%%acai run\nprint(1)']);
    }
  );

  it('name their project once', async () => {
    const left = await pressTogether(2, [LOAD, 'print(1)'], page => {
      page.active = 1;
      toggleRunAsJob(page.asNotebook, page.cell(1), 'vision', false);
    });
    expect(left[1]).toBe('%%acai run --project vision\nprint(1)');
  });

  it('keep the options of both', async () => {
    const left = await pressTogether(2, [LOAD, 'print(1)'], (page, number) => {
      page.active = 1;
      const projects = { usual: 'default', own: 'default' };
      useAsInput(page.asNotebook, `set${number}:1`, projects);
    });
    const [line = '', code] = (left[1] ?? '').split('\n');
    expect(code).toBe('print(1)');
    expect(line.split(' --input ').sort()).toEqual([
      '%%acai run',
      'set0:1',
      'set1:1'
    ]);
  });

  it('keep one cell that makes the line known where theirs differ', async () => {
    const left = await pressTogether(2, ['a', 'b', 'c'], (page, number) => {
      page.active = 2 - 2 * number;
      toggle(page);
    });
    expect(left).toEqual([LOAD, '%%acai run\na', 'b', '%%acai run\nc']);
  });

  it('take it away once', async () => {
    const left = await pressTogether(
      2,
      [LOAD, '%%acai run\nprint(1)'],
      page => {
        page.active = 1;
        toggle(page);
      }
    );
    expect(left).toEqual([LOAD, 'print(1)']);
  });

  it('undo what they did themselves, not that one line was taken out', async () => {
    const pages = pagesOf(2, 'print(1)');
    await meet(pages);
    const managers = pages.map(one => one.document.undoManager);
    for (const [at, page] of pages.entries()) {
      managers[at]?.clear();
      toggle(page);
      managers[at]?.stopCapturing();
    }
    await meet(pages);
    expect(managers.map(one => one.undoStack.length)).toEqual([1, 1]);
    for (const { document } of pages) {
      document.undo();
    }
    await meet(pages);
    expect(pages.map(one => one.sources)).toEqual([['print(1)'], ['print(1)']]);
  });

  it('leave what another did while somebody waited', () => {
    const page = new Page();
    page.document.addCell({
      cell_type: 'code',
      source: '%%acai run\nprint(1)'
    });
    toggleRunAsJob(page.asNotebook, page.cell(0), '', false);
    expect(page.sources).toEqual(['%%acai run\nprint(1)']);
  });
});

describe('Options of one line that two choose at once', () => {
  it('all stay, and so does what is typed in the code', async () => {
    const before = '%%acai run --cpu 2\nprint(1)';
    const sources = [
      '%%acai run --cpu 2 --memory 512Mi\nprint(1)',
      '%%acai run --cpu 4\nprint(1)',
      '%%acai run --cpu 2\nprint(1, 2)'
    ];
    const left = await pressTogether(3, [LOAD, before], (page, number) => {
      rewrite(page.cell(1), sources[number] ?? '');
    });
    expect(left[1]).toBe('%%acai run --cpu 4 --memory 512Mi\nprint(1, 2)');
  });

  it('find a line begun by either', async () => {
    const left = await pressTogether(2, ['print(1)'], page => {
      beginJob(page.asNotebook, page.cell(0), '');
    });
    expect(left).toEqual([LOAD, '%%acai run\nprint(1)']);
  });
});

describe('One change between two texts', () => {
  it.each([
    ['', '', 0, 0, ''],
    ['abc', 'abc', 3, 3, ''],
    ['ac', 'abc', 1, 1, 'b'],
    ['aa', 'aaa', 2, 2, 'a'],
    ['aaa', 'aa', 2, 3, ''],
    ['abc', 'xyz', 0, 3, 'xyz']
  ])('from %j to %j', (before, after, start, end, text) => {
    expect(changeBetween(before, after)).toEqual({ start, end, text });
  });
});

describe('A second line right below the first', () => {
  it.each([
    ['%%acai run\n%%acai run\nx', '%%acai run\nx'],
    [
      '%%acai run --cpu 2\n%%acai run --memory 1Gi\nx',
      '%%acai run --cpu 2 --memory 1Gi\nx'
    ],
    ['%%acai run --project a\n%%acai run --project a', '%%acai run --project a']
  ])('goes from %j', (source, left) => {
    const found = secondRun(source);
    const { start = 0, end = 0 } = found ?? {};
    expect(source.slice(0, start) + source.slice(end)).toBe(left);
  });

  it.each([
    '%%acai run\nx',
    '%%acai run\nx\n%%acai run',
    '%%acai run\n%%acai running'
  ])('is not in %j', source => {
    expect(secondRun(source)).toBeNull();
  });
});
