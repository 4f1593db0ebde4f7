import { describe, expect, it, vi } from 'vitest';

import type {
  IDrawGraph,
  IDrawing,
  IDrawnNode,
  IMetadata
} from '../src/contract';
import {
  moreOf,
  nodeBeside,
  nodeNearest,
  partOf
} from '../src/core/drawnNodes';
import { AcaiError } from '../src/core/errors';
import { GraphExplorer } from '../src/core/graphExplorer';
import { keptVisits, visitsFrom } from '../src/core/graphPlaces';
import type { IGraphSource } from '../src/core/graphSource';
import { Refresher } from '../src/core/refresher';
import { inSight } from '../src/provenance/steadyScroll';

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

const KNOWN: IMetadata = {
  thing: '',
  kind: 'file_set',
  attributes: { stage: 'new' },
  tags: [],
  built_in: { file_count: 2 }
};

/** A server with these sets around everything, which says what it was asked. */
function sourceOf(...things: string[]) {
  return {
    draw: vi.fn<IGraphSource['draw']>(request =>
      Promise.resolve(drawingOf(request, ...things))
    ),
    metadata: vi.fn<IGraphSource['metadata']>(thing =>
      Promise.resolve({ ...KNOWN, thing })
    ),
    change: vi.fn<IGraphSource['change']>(() => Promise.resolve(null)),
    find: vi.fn<IGraphSource['find']>(() => Promise.resolve(''))
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
    expect(explorer.place.pages).toEqual(['old:4']);
    await explorer.newer();
    await explorer.newer();
    expect(asked(source).map(one => one.before)).toEqual([null, 'old:4', null]);
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
    expect(await explorer.find('MODEL')).toBe(true);
    expect(explorer.selected?.id).toBe('model:1');
    expect(await explorer.find('amo')).toBe(true);
    expect(explorer.selected?.id).toBe('amodel:1');
    expect(await explorer.find('del:1')).toBe(true);
    expect(explorer.selected?.id).toBe('amodel:1');
    expect(await explorer.find('report')).toBe(false);
    expect(await explorer.find(' ')).toBe(false);
  });

  it('finds what is not drawn, and shows it', async () => {
    const source = sourceOf('raw:1');
    source.find.mockResolvedValueOnce('old:4');
    const explorer = new GraphExplorer(source);
    await explorer.show('', 'theirs');
    expect(await explorer.find('old')).toBe(true);
    expect(source.find).toHaveBeenCalledWith('old', 'theirs');
    expect(explorer.selected?.id).toBe('old:4');
    await explorer.goBack();
    expect(explorer.place.focus).toBe('');
  });

  it('says why nothing could be looked for', async () => {
    const source = sourceOf('raw:1');
    source.find.mockRejectedValueOnce(new AcaiError('away', 'Away.', 0));
    const explorer = new GraphExplorer(source);
    await explorer.show('');
    expect(await explorer.find('old')).toBe(true);
    expect(explorer.error?.message).toBe('Away.');
  });

  it('looks again for what could not be looked for, until something else is wanted', async () => {
    const source = sourceOf('raw:1');
    source.find.mockRejectedValue(new AcaiError('away', 'Away.', 0));
    const explorer = new GraphExplorer(source);
    await explorer.show('');
    await explorer.find('old');
    await explorer.refresh();
    expect(explorer.error?.message).toBe('Away.');
    source.find.mockResolvedValueOnce('');
    await explorer.askAgain();
    expect(source.find).toHaveBeenLastCalledWith('old', '');
    expect(explorer.error).toBeNull();
    expect(explorer.missing).toBe('old');
    await explorer.find('older');
    void explorer.find('oldest');
    expect(explorer.error).toBeNull();
    expect(explorer.missing).toBe('');
  });

  /** Somebody looks for something, and the server takes its time. */
  async function lookFor(source: ReturnType<typeof sourceOf>, text: string) {
    const answers: ((thing: string) => void)[] = [];
    source.find.mockReturnValueOnce(
      new Promise(resolve => {
        answers.push(resolve);
      })
    );
    const explorer = new GraphExplorer(source);
    await explorer.show('', 'mine');
    const found = explorer.find(text);
    const answer = async (thing: string) => {
      answers[0]?.(thing);
      expect(await found).toBe(true);
    };
    return { explorer, answer };
  }

  it.each<[string, (explorer: GraphExplorer) => unknown]>([
    ['another thing', explorer => explorer.show('model:2', 'theirs')],
    ['what is drawn', explorer => explorer.find('raw')],
    [
      'a node',
      explorer => {
        explorer.select('raw:1');
      }
    ],
    ['a filter', explorer => explorer.filter('accuracy > 0.9')]
  ])('does not go to what was looked for before %s', async (_, want) => {
    const source = sourceOf('raw:1');
    const { explorer, answer } = await lookFor(source, 'old');
    await want(explorer);
    const { place, selected } = explorer;
    await answer('old:4');
    expect(explorer.place).toEqual(place);
    expect(explorer.selected).toEqual(selected);
  });

  it('goes to what was looked for when the same was drawn anew meanwhile', async () => {
    const source = sourceOf('raw:1');
    const { explorer, answer } = await lookFor(source, 'old');
    await explorer.refresh();
    await answer('old:4');
    expect(explorer.place.focus).toBe('old:4');
  });

  it('shows what was found in the project in which it was looked for', async () => {
    const source = sourceOf('raw:1');
    const explorer = new GraphExplorer(source);
    await explorer.show('', 'mine');
    source.find.mockResolvedValueOnce('old:4');
    const moved = explorer.show('', 'theirs');
    await explorer.find('old');
    await moved;
    expect(source.find).toHaveBeenCalledWith('old', 'mine');
    expect(explorer.place).toMatchObject({ focus: 'old:4', project: 'mine' });
  });

  it('stays in the project that was its own when that was first known', async () => {
    let project = '';
    const source = sourceOf('raw:1');
    source.draw.mockRejectedValueOnce(new AcaiError('away', 'Away.', 0));
    const explorer = new GraphExplorer(source, 0, () => project);
    await explorer.show('');
    project = 'mine';
    await explorer.refresh();
    project = 'theirs';
    await explorer.refresh();
    expect(source.draw.mock.calls.map(call => call[1])).toEqual([
      '',
      'mine',
      'mine'
    ]);
  });

  it('knows what is selected in the project to which one goes back', async () => {
    const source = sourceOf();
    source.metadata.mockImplementation((thing, project) =>
      Promise.resolve({ ...KNOWN, thing, attributes: { owner: project } })
    );
    const explorer = new GraphExplorer(source);
    await explorer.show('raw:1', 'mine');
    await explorer.show('raw:1', 'theirs');
    expect(explorer.known?.attributes).toEqual({ owner: 'theirs' });
    await explorer.goBack();
    expect(explorer.known?.attributes).toEqual({ owner: 'mine' });
  });

  it('selects what was selected where it goes back to', async () => {
    const explorer = new GraphExplorer(sourceOf('raw:1'));
    await explorer.show('model:2');
    explorer.select('raw:1');
    await explorer.show('7');
    await explorer.goBack();
    expect(explorer.selected?.id).toBe('raw:1');
  });

  it('stays where it is when the way back cannot be drawn', async () => {
    const source = sourceOf();
    const explorer = new GraphExplorer(source);
    await explorer.show('model:2', 'mine');
    await explorer.show('raw:1', 'theirs');
    source.draw.mockRejectedValueOnce(new AcaiError('away', 'Away.', 0));
    await explorer.goBack();
    expect(explorer.place.project).toBe('theirs');
    expect(explorer.canGoBack).toBe(true);
    expect(explorer.canAskAgain).toBe(true);
    await explorer.askAgain();
    expect(explorer.place.project).toBe('mine');
    expect(explorer.error).toBeNull();
  });

  it('says that it asks, until there is an answer', async () => {
    const explorer = new GraphExplorer(sourceOf());
    const shown = explorer.show('model:2');
    expect(explorer.isAsking).toBe(true);
    await shown;
    expect(explorer.isAsking).toBe(false);
    const refreshed = explorer.refresh();
    expect(explorer.isAsking).toBe(false);
    await refreshed;
  });

  it('keeps where a path begins until the path is drawn', async () => {
    const source = sourceOf('raw:1');
    const explorer = new GraphExplorer(source);
    await explorer.show('model:2');
    explorer.select('raw:1');
    explorer.startPath();
    explorer.select('model:2');
    source.draw.mockRejectedValueOnce(new AcaiError('bad_request', 'No.', 400));
    await explorer.endPath();
    expect(explorer.pathFrom).toBe('raw:1');
    await explorer.endPath();
    expect(explorer.pathFrom).toBe('');
  });

  it('does not offer to ask again for what was refused, and forgets it with the query', async () => {
    const source = sourceOf();
    const explorer = new GraphExplorer(source);
    await explorer.show('model:2');
    source.draw.mockRejectedValueOnce(new AcaiError('bad_query', 'No.', 400));
    await explorer.filter('accuracy >');
    expect(explorer.error?.message).toBe('No.');
    expect(explorer.canAskAgain).toBe(false);
    await explorer.refresh();
    expect(explorer.error?.message).toBe('No.');
    await explorer.filter('');
    expect(explorer.error).toBeNull();
  });

  it('forgets that it could not learn once it has learned', async () => {
    const source = sourceOf('raw:1');
    const explorer = new GraphExplorer(source);
    source.metadata.mockRejectedValueOnce(new AcaiError('away', 'Away.', 0));
    await explorer.show('model:2');
    expect(explorer.error?.message).toBe('Away.');
    await explorer.refresh();
    expect(explorer.error).toBeNull();
  });

  it('goes on where it was after a reload', async () => {
    const explorer = new GraphExplorer(sourceOf('raw:1', 'clean:1'));
    await explorer.show('model:2', 'theirs');
    await explorer.open('raw:1', 'back');
    await explorer.filter('accuracy > 0.9');
    explorer.select('clean:1');
    const kept: unknown = JSON.parse(
      JSON.stringify(keptVisits(explorer.visits))
    );
    const source = sourceOf('raw:1', 'clean:1');
    const again = new GraphExplorer(source);
    source.draw.mockRejectedValueOnce(new AcaiError('away', 'Away.', 0));
    await again.restore(visitsFrom(kept));
    expect(keptVisits(again.visits)).toEqual(kept);
    await again.askAgain();
    expect(again.place).toEqual(explorer.place);
    expect(again.selected?.id).toBe('clean:1');
    await again.goBack();
    expect(again.place.query).toBe('');
    expect(again.place.steps).toHaveLength(1);
  });

  it('takes nothing from a layout that is no place', () => {
    expect(visitsFrom(undefined)).toEqual([]);
    const [one] = visitsFrom([{ focus: 3, steps: [{ node: 'a' }, null] }]);
    expect(one?.place).toMatchObject({ focus: '', steps: [], pages: [] });
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

  it('is reached from another by the arrow that leads to it', () => {
    const at = (thing: string, x: number, y: number) => nodeOf(thing, { x, y });
    const here = at('here:1', 200, 0);
    const nodes = [
      here,
      at('before:1', 0, 10),
      at('above:1', 200, -60),
      at('far:1', 600, 0),
      at('aside:1', 400, 300),
      at('behind:1', 400, 20)
    ];
    const found = (key: string) => nodeBeside(nodes, here, key)?.id ?? null;
    expect(found('ArrowLeft')).toBe('before:1');
    expect(found('ArrowRight')).toBe('behind:1');
    expect(found('ArrowUp')).toBe('above:1');
    expect(found('ArrowDown')).toBe('aside:1');
    expect(found('Home')).toBe('before:1');
    expect(found('End')).toBe('far:1');
    expect(nodeNearest(nodes, { x: 390, y: 30 })?.id).toBe('behind:1');
  });
});

describe('A view of a drawing', () => {
  it('moves as little as it can to have something in sight', () => {
    expect(inSight([100, 50], [110, 140])).toBe(100);
    expect(inSight([100, 50], [130, 170])).toBe(120);
    expect(inSight([100, 50], [60, 90])).toBe(60);
    expect(inSight([100, 50], [0, 90])).toBe(20);
  });
});
