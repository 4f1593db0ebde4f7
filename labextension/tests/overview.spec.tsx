import * as React from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';

import type { IOverview } from '../src/contract';
import { labelOf, progressOf, standingOf } from '../src/core/overviewText';
import { OverviewView } from '../src/overview/view';
import { makeAttempt, makeFinished, makeJob } from './jobs';

const NOW = new Date('2026-11-18T12:01:02Z');

export function makeOverview(changes: Partial<IOverview> = {}): IOverview {
  return { running: [], waiting: [], recent: [], states: {}, ...changes };
}

function read(overview: IOverview | null, costToday: number | null): string {
  return renderToStaticMarkup(
    <OverviewView
      overview={overview}
      costToday={costToday}
      error={null}
      isConnected={true}
      now={NOW}
      onOpen={() => undefined}
      onOpenAll={() => undefined}
    />
  )
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');
}

describe('A job at a glance', () => {
  it('says for how long it runs, of how long, and what that costs', () => {
    const attempts = [{ ...makeAttempt(), usd_per_hour: 0.6 }];
    const job = makeJob({ attempts, expected_seconds: 180 });
    expect(standingOf(job, NOW)).toBe('running · 1 min of about 3 min · $0.01');
    expect(progressOf(job, NOW)).toBeCloseTo(1 / 3);
  });

  it('says nothing of an end that nobody can expect', () => {
    expect(standingOf(makeJob(), NOW)).toBe('running · 1 min');
    expect(progressOf(makeJob(), NOW)).toBeNull();
  });

  it('is never further than its end', () => {
    expect(progressOf(makeJob({ expected_seconds: 5 }), NOW)).toBe(1);
  });

  it('says why it waits and when it starts', () => {
    const job = makeJob({
      state: 'queued',
      attempts: [],
      waiting: {
        sentence: 'It waits for job 3.',
        place: 1,
        starts_at: '2026-11-18T12:01:32Z'
      }
    });
    expect(standingOf(job, NOW)).toBe(
      'queued · It waits for job 3. · starts in about 30 s'
    );
  });

  it('says how it ended, what that took and cost, and when', () => {
    const job = makeFinished({ ended_at: '2026-11-18T11:58:00Z' });
    expect(standingOf(job, NOW)).toBe(
      'finished · 3.2 s · $0.00003 · 3 min ago'
    );
  });

  it('is called by its name, else by its command without the interpreter', () => {
    expect(labelOf(makeJob({ name: 'big\none' }))).toBe('big\\none');
    expect(
      labelOf(
        makeJob({ command: ['/usr/bin/python3', 'train.py', '--lr', '1'] })
      )
    ).toBe('train.py --lr 1');
    expect(labelOf(makeJob({ command: 'bash run.sh' }))).toBe('bash run.sh');
    expect(labelOf(makeJob({ command: ['python', '-u', 'a.py'] }))).toBe(
      'a.py'
    );
    const cell = ['python', '-u', 'cell.py'];
    expect(labelOf(makeJob({ command: cell, code: 'code.digits:3' }))).toBe(
      'a cell of digits'
    );
    expect(labelOf(makeJob({ command: cell, code: 'code.cell:1' }))).toBe(
      'a cell'
    );
  });
});

describe('OverviewView', () => {
  it('lists running, waiting and recent jobs, counts those it does not list, and says what today cost', () => {
    const text = read(
      makeOverview({
        running: [makeJob({ number: 9 })],
        waiting: [makeJob({ number: 10, state: 'queued', attempts: [] })],
        recent: [makeFinished({ number: 8 })],
        states: { running: 1, queued: 1200 }
      }),
      0.034
    );
    expect(text).toContain('Running 1');
    expect(text).toContain('job 9 train.py');
    expect(text).toContain('Waiting 1200');
    expect(text).toContain('and 1,199 more');
    expect(text).toContain('Recent');
    expect(text).toContain('job 8');
    expect(text).toContain('$0.03 today');
    expect(text).toContain('All jobs');
  });

  it('tells a newcomer how to begin', () => {
    expect(read(makeOverview(), 0)).toContain('%%acai run');
    expect(read(null, null)).toContain('Asking…');
  });

  it('shows what others wrote as text', () => {
    const job = makeJob({ name: '<img src=x onerror=alert(1)>' });
    const markup = renderToStaticMarkup(
      <OverviewView
        overview={makeOverview({ running: [job], states: { running: 1 } })}
        costToday={0}
        error={null}
        isConnected={true}
        now={NOW}
        onOpen={() => undefined}
        onOpenAll={null}
      />
    );
    expect(markup).not.toContain('<img');
    expect(markup).not.toContain('All jobs');
  });
});
