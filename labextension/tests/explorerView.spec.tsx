import * as React from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { beforeAll, describe, expect, it, vi } from 'vitest';

import type { IDrawing } from '../src/contract';
import { AcaiError } from '../src/core/errors';
import { GraphExplorer } from '../src/core/graphExplorer';
import type { IGraphSource } from '../src/core/graphSource';
import { ExplorerView } from '../src/provenance/explorerView';

const NODE = { words: '', about: 'all of it', x: 0, y: 0, width: 9, height: 9 };
const JOB = {
  ...NODE,
  id: 'action:1',
  kind: 'job' as const,
  label: 'job 1 · a…t',
  name: 'job 1 · an experiment',
  classes: [],
  thing: '1'
};
const DRAWING: IDrawing = {
  focus: 'action:1',
  title: 'Provenance of job 1',
  nodes: [
    JOB,
    { ...JOB, id: 'a:1', thing: 'a:1', kind: 'file-set', label: 'a:1' }
  ],
  edges: [],
  left: 0,
  top: 0,
  width: 100,
  height: 50,
  looks: []
};

async function explorerOf(changes: Partial<IGraphSource> = {}) {
  const explorer = new GraphExplorer({
    draw: () => Promise.resolve(DRAWING),
    metadata: () => Promise.reject(new AcaiError('not_found', 'Gone.', 404)),
    change: () => Promise.resolve(),
    find: () => Promise.resolve(''),
    ...changes
  });
  await explorer.show('1');
  return explorer;
}

function markup(explorer: GraphExplorer, opens = true): string {
  return renderToStaticMarkup(
    <ExplorerView
      explorer={explorer}
      onExport={() => Promise.resolve('')}
      ask={{
        affected: () => Promise.reject(new Error()),
        difference: () => Promise.reject(new Error())
      }}
      onAgain={() => undefined}
      onOpenJob={opens ? () => undefined : null}
      onOpenSet={opens ? () => undefined : null}
    />
  );
}

beforeAll(() => {
  // React tells of effects that wait for a browser.
  vi.spyOn(console, 'error').mockReturnValue();
});

describe('The tab of the graph', () => {
  it('says the whole name of a job, and opens it where there is something to open it with', async () => {
    const explorer = await explorerOf();
    expect(markup(explorer)).toContain('<h2>job 1 · an experiment</h2>');
    expect(markup(explorer)).toContain('open job');
    expect(markup(explorer, false)).not.toContain('open job');
  });

  it('says the whole name of what it can draw more of', async () => {
    const draw = () =>
      Promise.resolve({ ...DRAWING, nodes: [{ ...JOB, back: 2 }] });
    expect(markup(await explorerOf({ draw }))).toContain(
      '+2: draw what job 1 · an experiment was made of'
    );
  });

  it('says values with nothing left out', async () => {
    const metadata = (thing: string) =>
      Promise.resolve({
        thing,
        kind: 'job' as const,
        attributes: {},
        parameters: { rate: 0.123456789 },
        tags: [],
        built_in: { ended: { time: '2026-11-19T14:03:07.25' } }
      });
    const html = markup(await explorerOf({ metadata }));
    expect(html).toContain('<dd>0.123456789</dd>');
    expect(html).toContain('<dd>2026-11-19 14:03:07.25</dd>');
  });

  it('is one stop of the Tab key among all nodes', async () => {
    const html = markup(await explorerOf());
    expect(html.match(/jp-AcaiProvenance-node/g)).toHaveLength(2);
    expect(html.match(/tabindex="0"/g)).toHaveLength(1);
  });

  it('is busy while somebody waits', async () => {
    const explorer = await explorerOf();
    expect(markup(explorer)).toContain('aria-busy="false"');
    void explorer.show('2');
    expect(markup(explorer)).toContain('aria-busy="true"');
    expect(markup(explorer)).toContain('Asking…');
  });

  it('shows where a query is wrong, and offers no second try', async () => {
    const words = 'Not understood.\n  accuracy >\n            ^';
    const explorer = await explorerOf();
    const draw = () => Promise.reject(new AcaiError('bad_query', words, 400));
    const refused = await explorerOf({ draw });
    expect(markup(refused)).toContain(
      '<pre>  accuracy &gt;\n            ^</pre>'
    );
    expect(markup(refused)).not.toContain('Try again');
    expect(markup(explorer)).not.toContain('Try again');
    const away = () => Promise.reject(new AcaiError('away', 'Away.', 0));
    expect(markup(await explorerOf({ draw: away }))).toContain('Try again');
  });
});
