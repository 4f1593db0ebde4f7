import { describe, expect, it, vi } from 'vitest';

import type {
  IDrawGraph,
  IDrawing,
  IDrawnNode,
  IMetadata
} from '../src/contract';
import { moreOf, partOf } from '../src/core/drawnNodes';
import { AcaiError } from '../src/core/errors';
import { GraphExplorer, type IGraphSource } from '../src/core/graphExplorer';
import { Refresher } from '../src/core/refresher';

function nodeOf(thing: string, changes: Partial<IDrawnNode> = {}): IDrawnNode {
  const isJob = /^\d+$/.test(thing);
  return {
    id: isJob ? `action ${thing}` : thing,
    kind: isJob ? 'job' : 'file-set',
    label: isJob ? `job ${thing}` : thing,
    words: '',
    about: `${thing}, made by somebody`,
    x: 0,
    y: 0,
    width: 150,
    height: 40,
    classes: [],
    thing,
    ...changes
  };
}

function drawingOf(request: IDrawGraph, ...things: string[]): IDrawing {
  const { focus } = request;
  return {
    focus: focus === '' ? '' : nodeOf(focus).id,
    title: focus === '' ? 'Provenance of default' : `Provenance of ${focus}`,
    nodes: [...(focus === '' ? [] : [focus]), ...things].map((thing, at) =>
      nodeOf(thing, { x: 200 * at })
    ),
    edges: [],
    left: -100,
    top: -50,
    width: 400,
    height: 100,
    looks: []
  };
}

/** A server with these sets around everything, which says what it was asked. */
function sourceOf(...things: string[]) {
  return {
    draw: vi.fn<IGraphSource['draw']>(request =>
      Promise.resolve(drawingOf(request, ...things))
    ),
    metadata: vi.fn((thing: string): Promise<IMetadata> =>
      Promise.resolve({
        thing,
        kind: 'file_set',
        attributes: { stage: 'new' },
        tags: [],
        built_in: { file_count: 2 }
      })
    ),
    change: vi.fn<IGraphSource['change']>(() => Promise.resolve(null))
  } satisfies IGraphSource;
}

function asked(source: ReturnType<typeof sourceOf>): Partial<IDrawGraph>[] {
  return source.draw.mock.calls.map(([request]) => request);
}

describe('GraphExplorer', () => {
  it('goes from thing to thing, selects what is in the middle, and finds back', async () => {
    const source = sourceOf('raw:1');
    const explorer = new GraphExplorer(source);
    await explorer.show('model:2');
    expect(explorer.canGoBack).toBe(false);
    expect(explorer.selected?.id).toBe('model:2');
    await vi.waitFor(() => {
      expect(explorer.known?.attributes).toEqual({ stage: 'new' });
    });
    await explorer.show('7');
    expect(explorer.drawing?.title).toBe('Provenance of 7');
    await explorer.goBack();
    expect(explorer.drawing?.focus).toBe('model:2');
    expect(explorer.canGoBack).toBe(false);
  });

  it('stays in the project that it was asked to show', async () => {
    const source = sourceOf();
    const explorer = new GraphExplorer(source);
    await explorer.show('model:2', 'theirs');
    await explorer.filter('accuracy > 0.9');
    await explorer.show('7');
    await explorer.show('7', '');
    await explorer.goBack();
    expect(
      source.draw.mock.calls.map(([{ focus, query }, project]) => [
        focus,
        query,
        project
      ])
    ).toEqual([
      ['model:2', '', 'theirs'],
      ['model:2', 'accuracy > 0.9', 'theirs'],
      ['7', 'accuracy > 0.9', 'theirs'],
      ['7', '', ''],
      ['7', 'accuracy > 0.9', 'theirs']
    ]);
  });

  it('asks again for what could not be drawn, the first time too', async () => {
    const source = sourceOf('model:2');
    source.draw.mockRejectedValueOnce(new Error('away'));
    const explorer = new GraphExplorer(source);
    await explorer.show('model:2');
    expect(explorer.error).not.toBeNull();
    expect(explorer.drawing).toBeNull();
    await explorer.askAgain();
    expect(explorer.error).toBeNull();
    expect(explorer.place.focus).toBe('model:2');
    expect(explorer.drawing?.focus).toBe('model:2');
  });

  it('draws further from a node once, and leaves what is there in its place', async () => {
    const source = sourceOf('raw:1');
    const explorer = new GraphExplorer(source, 3600);
    await explorer.show('model:2');
    const before = explorer.layout;
    await explorer.open('raw:1', 'back');
    await explorer.open('raw:1', 'back');
    expect(explorer.layout).toBe(before);
    expect(asked(source)).toHaveLength(2);
    expect(asked(source)[1]).toMatchObject({
      focus: 'model:2',
      steps: [{ node: 'raw:1', direction: 'back' }],
      places: { 'model:2': [0, 0], 'raw:1': [200, 0] },
      utc_offset_seconds: 3600
    });
    await explorer.refresh();
    expect(asked(source)[2]).toEqual(asked(source)[1]);
    expect(explorer.layout).toBe(before);
    await explorer.goBack();
    expect(asked(source)[3]).toMatchObject({ steps: [], places: {} });
  });

  it('draws the whole project, a page at a time', async () => {
    const source = sourceOf('model:2', 'raw:1');
    source.draw.mockImplementationOnce(request =>
      Promise.resolve({ ...drawingOf(request, 'model:2'), next: 'old:4' })
    );
    const explorer = new GraphExplorer(source);
    await explorer.show('');
    expect(explorer.selected).toBeNull();
    await explorer.older();
    await explorer.older();
    expect(asked(source).map(one => one.before)).toEqual([null, 'old:4']);
  });

  it('draws the path between two sets that were selected one after the other', async () => {
    const source = sourceOf('raw:1');
    const explorer = new GraphExplorer(source);
    await explorer.show('model:2');
    explorer.select('raw:1');
    explorer.startPath();
    await explorer.endPath(); // from itself to itself is no path
    expect(explorer.pathFrom).toBe('raw:1');
    explorer.select('model:2');
    await explorer.endPath();
    expect(asked(source)[1]).toMatchObject({
      focus: 'raw:1',
      path_to: 'model:2'
    });
    expect(explorer.pathFrom).toBe('');
  });

  it('finds by name, what begins so first', async () => {
    const explorer = new GraphExplorer(sourceOf('amodel:1', 'model:1'));
    await explorer.show('');
    expect(explorer.find('MODEL')).toBe(true);
    expect(explorer.selected?.id).toBe('model:1');
    expect(explorer.find('amo')).toBe(true);
    expect(explorer.selected?.id).toBe('amodel:1');
    expect(explorer.find('report')).toBe(false);
    expect(explorer.find(' ')).toBe(false);
  });

  it('changes what is selected, and asks how it is then', async () => {
    const source = sourceOf();
    const explorer = new GraphExplorer(source);
    await explorer.show('model:2', 'theirs');
    await explorer.tag({ add_labels: ['best'] });
    expect(source.change.mock.calls).toEqual([
      [{ thing: 'model:2', add_labels: ['best'] }, 'theirs']
    ]);
    expect(source.metadata).toHaveBeenCalledTimes(2);
  });

  it('says why something cannot be drawn, and stays where it was', async () => {
    const source = sourceOf();
    const explorer = new GraphExplorer(source);
    await explorer.show('model:2');
    source.draw.mockRejectedValueOnce(
      new AcaiError('job_not_found', 'There is no job 9.', 404)
    );
    await explorer.show('9');
    expect(explorer.error?.message).toBe('There is no job 9.');
    expect(explorer.drawing?.focus).toBe('model:2');
    expect(explorer.place.focus).toBe('model:2');
    expect(explorer.canGoBack).toBe(false);
    await explorer.show('7');
    expect(explorer.error).toBeNull();
  });

  it('does not show an answer that came too late', async () => {
    const source = sourceOf();
    let answer: ((drawing: IDrawing) => void) | undefined;
    source.draw.mockReturnValueOnce(
      new Promise(resolve => {
        answer = resolve;
      })
    );
    const explorer = new GraphExplorer(source);
    const slow = explorer.show('slow:1');
    await explorer.show('quick:1');
    answer?.(drawingOf({ focus: 'slow:1' }));
    await slow;
    expect(explorer.drawing?.focus).toBe('quick:1');
  });
});

describe('Refresher', () => {
  it('acts once in a while, and only while somebody looks', async () => {
    vi.useFakeTimers();
    const act = vi.fn(() => Promise.resolve());
    const refresher = new Refresher(act, 1_000);
    refresher.doubt();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(act).not.toHaveBeenCalled();
    refresher.setSeen(true);
    for (let at = 0; at < 10; at += 1) {
      refresher.doubt();
      await vi.advanceTimersByTimeAsync(200);
    }
    expect(act).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(act).toHaveBeenCalledTimes(2);
    refresher.doubt();
    refresher.dispose();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(act).toHaveBeenCalledTimes(2);
    vi.useRealTimers();
  });
});

describe('A drawn node', () => {
  it('has its place and what is behind it as parts of the drawing', () => {
    const drawing = drawingOf({ focus: '' });
    const node = nodeOf('raw:1', { x: 100, back: 3, forward: 0 });
    expect(partOf(node, drawing)).toEqual({
      left: 125 / 400,
      top: 30 / 100,
      width: 150 / 400,
      height: 40 / 100
    });
    const [more, ...rest] = moreOf(node, drawing);
    expect(rest).toEqual([]);
    expect(more).toMatchObject({ direction: 'back', count: 3 });
    expect(more?.part.left).toBeLessThan(125 / 400);
  });
});
