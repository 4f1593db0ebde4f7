import { Signal } from '@lumino/signaling';
import { describe, expect, it } from 'vitest';

import {
  canBeRunCell,
  isRunCell,
  JOB_TYPE,
  knowsRunLine,
  LOAD_LINE,
  ranIn,
  SWEEP_TYPE,
  toggledRun
} from '../src/core/runCell';
import type { ICell, INotebook } from '../src/cells/notebook';
import { cellToRun, runsAsJob, toggleRunAsJob } from '../src/cells/runAsJob';
import { useAsInput } from '../src/cells/useAsInput';
import { isSameSweep } from '../src/core/sweepSnapshot';
import { CellBars } from '../src/cells/cellBars';
import { makeJob, snapshotOf } from './jobs';

describe('A cell that runs as a job', () => {
  it('begins with the line, and with no other', () => {
    expect(isRunCell('%%acai run --cpu 2\nprint(1)')).toBe(true);
    expect(isRunCell('\n %%acai  run')).toBe(true);
    expect(isRunCell('%%acai runs')).toBe(false);
    expect(isRunCell('%%acai profile -p n={1,2}')).toBe(false);
    expect(isRunCell('# %%acai run')).toBe(false);
    expect(canBeRunCell('%%bash\nls')).toBe(false);
    expect(canBeRunCell('print(1)')).toBe(true);
    expect(canBeRunCell(LOAD_LINE)).toBe(false);
    expect(canBeRunCell(`${LOAD_LINE}\nprint(1)`)).toBe(true);
  });

  it('becomes one and what it was before', () => {
    expect(toggledRun('\nprint(1)\n')).toBe('%%acai run\nprint(1)\n');
    expect(toggledRun(toggledRun('print(1)'))).toBe('print(1)');
    expect(toggledRun('%%acai run --cpu 2')).toBe('');
  });

  it('names its last job, and none where somebody wrote nonsense', () => {
    const [first, last] = [1, 2].map(number => ({
      [JOB_TYPE]: snapshotOf(makeJob({ number }))
    }));
    const found = ranIn([first ?? {}, last ?? {}, { 'text/plain': '' }]);
    expect(found?.snapshot).toMatchObject({ number: 2 });
    expect(ranIn([{ 'text/plain': 'job 7' }])).toBeNull();
    expect(ranIn([first ?? {}, { [JOB_TYPE]: { number: 'x' } }])).toBeNull();
  });

  it('names the sweep or the job that it became last', () => {
    const job = { [JOB_TYPE]: snapshotOf(makeJob({ number: 1 })) };
    const table = { tag: 'sweep-2', parameters: [], metrics: [], rows: [] };
    const snapshot = { project: 'default', count: 2, table };
    const sweep = { [SWEEP_TYPE]: snapshot };
    expect(ranIn([job, sweep, { 'text/plain': '' }])).toEqual({
      kind: 'sweep',
      snapshot
    });
    expect(ranIn([sweep, job])?.kind).toBe('job');
    expect(ranIn([{ 'text/plain': 'sweep-2' }])).toBeNull();
    const nameless = { ...snapshot, table: { ...table, tag: 7 } };
    expect(ranIn([job, { [SWEEP_TYPE]: nameless }])).toBeNull();
    const later = { ...snapshot, count: 3 };
    expect(isSameSweep(snapshot, later)).toBe(true);
    expect(isSameSweep(snapshot, { ...later, project: 'other' })).toBe(false);
  });

  it('needs a notebook that knows the line', () => {
    expect(knowsRunLine(['import os\n%load_ext acai_jupyter'])).toBe(true);
    expect(knowsRunLine(['# %load_ext acai_jupyter', 'print(1)'])).toBe(false);
    expect(knowsRunLine([`%%acai run\n${LOAD_LINE}`])).toBe(false);
  });
});

/** A notebook of which only sources matter, and which cell is active. */
class Notebook {
  constructor(...sources: string[]) {
    this.cells = sources.map(cellOf);
  }

  cells: ICell[];
  language = 'python';
  active = 0;
  readonly changed = new Signal<unknown, unknown>({});

  insert(at: number, source: string): void {
    this.cells = [...this.cells];
    this.cells.splice(at, 0, cellOf(source));
    this.changed.emit(null);
  }

  remove(at: number): void {
    this.cells = this.cells.filter((_, index) => index !== at);
    this.changed.emit(null);
  }

  get sources(): string[] {
    return this.cells.map(one => one.model.sharedModel.getSource());
  }

  get asNotebook(): INotebook {
    // eslint-disable-next-line @typescript-eslint/no-this-alias -- getters of the content speak of it
    const all = this;
    return {
      id: 'notebook',
      isDisposed: false,
      disposed: new Signal<unknown, unknown>({}),
      revealed: Promise.resolve(),
      sessionContext: {
        kernelDisplayName: 'Python 3',
        ready: Promise.resolve(),
        session: null,
        startKernel: () => Promise.resolve(true)
      },
      content: {
        get widgets() {
          return all.cells;
        },
        get activeCell() {
          return all.cells[all.active] ?? null;
        },
        get activeCellIndex() {
          return all.active;
        },
        set activeCellIndex(at: number) {
          all.active = at;
        },
        mode: 'command',
        activate: () => undefined,
        deselectAll: () => undefined,
        scrollToCell: () => Promise.resolve(),
        activeCellChanged: new Signal<unknown, unknown>({})
      },
      context: {
        path: 'work/Untitled.ipynb',
        ready: Promise.resolve(),
        model: {
          defaultKernelLanguage: this.language,
          readOnly: false,
          cells: { changed: this.changed },
          sharedModel: {
            insertCell: (at, { source }) => {
              this.insert(at, source);
              return { getId: () => 'cell' };
            },
            deleteCell: at => {
              this.remove(at);
            },
            transact: change => {
              change();
            }
          }
        }
      }
    };
  }
}

function cellOf(source: string): ICell {
  let text = source;
  return {
    model: {
      type: source.startsWith('#') ? 'markdown' : 'code',
      contentChanged: new Signal<unknown, unknown>({}),
      stateChanged: new Signal<unknown, unknown>({}),
      sharedModel: {
        getId: () => 'cell',
        getSource: () => text,
        updateSource: (start, end, changed) => {
          text = text.slice(0, start) + changed + text.slice(end);
        },
        transact: change => {
          change();
        }
      }
    },
    isDisposed: false,
    disposed: new Signal<unknown, unknown>({}),
    ready: Promise.resolve(),
    layout: null
  };
}

/** Press the button of the active cell. */
function press({ asNotebook }: Notebook, project = ''): void {
  const cell = cellToRun(asNotebook);
  if (cell !== null) {
    toggleRunAsJob(asNotebook, cell, project, runsAsJob(asNotebook));
  }
}

describe('The button of a cell', () => {
  it('adds the line, and above it what makes it known, once', () => {
    const notebook = new Notebook('print(1)', 'print(2)');
    press(notebook);
    expect(notebook.sources).toEqual([
      '%load_ext acai_jupyter',
      '%%acai run\nprint(1)',
      'print(2)'
    ]);
    expect(notebook.active).toBe(0);
    press(notebook); // on the cell that only loads
    expect(notebook.sources[0]).toBe(LOAD_LINE);
    notebook.active = 2;
    press(notebook);
    expect(notebook.sources).toHaveLength(3);
    expect(runsAsJob(notebook.asNotebook)).toBe(true);
    press(notebook);
    expect(notebook.sources[2]).toBe('print(2)');
  });

  it('counts only what the kernel has run before that cell', () => {
    const notebook = new Notebook(
      '# %%\n%load_ext acai_jupyter',
      'print(1)',
      LOAD_LINE
    );
    notebook.active = 1;
    press(notebook);
    expect(notebook.sources.slice(1)).toEqual([
      LOAD_LINE,
      '%%acai run\nprint(1)',
      LOAD_LINE
    ]);
  });

  it('names the project where that does not go without saying', () => {
    const notebook = new Notebook('print(1)', 'print(2)', 'print(3)');
    press(notebook, 'vision');
    expect(notebook.sources[1]).toBe('%%acai run --project vision\nprint(1)');
    notebook.active = 2;
    const [usual, own] = ['default', 'vision'];
    expect(useAsInput(notebook.asNotebook, 'train:1', { usual, own })).toBe('');
    expect(notebook.sources[2]).toBe(
      '%%acai run --project vision --input train:1\nprint(2)'
    );
    const failure = useAsInput(notebook.asNotebook, 'test:1', {
      usual,
      own: usual
    });
    expect(failure).toBe(
      'test:1 is in project default, and the job of this cell is in vision: use it in a cell of its own.'
    );
    expect(notebook.sources[2]).not.toContain('test:1');
  });

  it('is for cells of Python only', () => {
    const notebook = new Notebook('# Words', '%%bash\nls');
    expect(cellToRun(notebook.asNotebook)).toBeNull();
    notebook.active = 1;
    expect(cellToRun(notebook.asNotebook)).toBeNull();
    const other = new Notebook('print(1)');
    other.language = 'R';
    expect(cellToRun(other.asNotebook)).toBeNull();
    expect(cellToRun(null)).toBeNull();
  });
});

describe('CellBars', () => {
  it('has one for each cell of code, as cells come and go', () => {
    const notebook = new Notebook('a', '# Words', 'b');
    const living = new Set<ICell>();
    const bars = new CellBars(notebook.asNotebook, cell => {
      living.add(cell);
      return {
        isDisposed: false,
        dispose: () => {
          living.delete(cell);
        }
      };
    });
    expect(living.size).toBe(2);
    notebook.insert(0, 'c');
    expect(living.size).toBe(3);
    notebook.remove(1);
    expect([...living]).toEqual([notebook.cells[2], notebook.cells[0]]);
    bars.dispose();
    bars.dispose();
    expect(living.size).toBe(0);
    notebook.insert(0, 'd');
    expect(living.size).toBe(0);
  });
});
