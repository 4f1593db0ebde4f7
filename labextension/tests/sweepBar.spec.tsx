import * as React from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';

import { SweepBarView } from '../src/cells/sweepBarView';
import type { IJobState, ISweepTable } from '../src/contract';
import { SweepModel } from '../src/views/sweep/model';

function table(...states: IJobState[]): ISweepTable {
  return {
    tag: 'sweep-1',
    parameters: ['lr'],
    metrics: [],
    rows: states.map((state, index) => ({
      job: index + 1,
      state,
      reason: '',
      parameters: { lr: index },
      attributes: {},
      cost_usd: 0.01,
      created_at: '2026-11-18T12:00:00Z'
    }))
  };
}

function render(found: ISweepTable, onOpen: (() => void) | null): string {
  const model = new SweepModel(found, {
    ask: () => Promise.resolve(found),
    follow: () => expect.fail('nobody looks')
  });
  return renderToStaticMarkup(
    <SweepBarView
      model={model}
      project="default"
      count={found.rows.length}
      onKill={() => expect.fail('nobody presses')}
      onOpen={onOpen}
    />
  );
}

describe('the bar of a sweep', () => {
  it('says how many jobs are in which state and for how much, opens them and ends them', () => {
    const html = render(
      table('finished', 'running', 'failed'),
      () => undefined
    );
    expect(html).toContain(
      ' · 3 jobs · 1 finished, 1 running, 1 failed · $0.03'
    );
    expect(html).toContain('data-tone="busy"');
    expect(html).toContain('aria-label="sweep-1 in the table of jobs"');
    expect(html).toContain(
      'aria-label="kill all jobs of the cell&#x27;s sweep-1"'
    );
  });

  it('ends nothing that has ended, and opens nothing where nothing can', () => {
    const html = render(table('finished', 'killed'), null);
    expect(html).not.toContain('<button');
    expect(html).toContain('data-tone="bad"');
    expect(html).toContain('2 jobs · 1 finished, 1 killed');
  });
});
