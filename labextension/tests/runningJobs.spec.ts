import { expect, it, vi } from 'vitest';

import { JobPages } from '../src/core/jobPages';
import { RunningJobs } from '../src/core/runningJobs';
import { makeAttempt, makeJob } from './jobs';

it('says what a running job is billed and costs so far, by one question until others run', async () => {
  const values: { [key: string]: string | number } = {
    state: 'running',
    attempts: 1,
    template: 'train.py ()'
  };
  const pages = new JobPages(
    {
      find: ({ columns = [] }) =>
        Promise.resolve({
          kind: 'job',
          columns,
          rows: [
            { thing: '7', values: columns.map(key => values[key] ?? null) }
          ]
        }),
      count: () => Promise.resolve({ count: 1 })
    },
    { query: '', order: [], columns: ['billed_seconds', 'cost_usd'] }
  );
  pages.setSeen(true);
  await vi.waitFor(() => {
    expect(pages.rows).toHaveLength(1);
  });
  const read = vi.fn(() =>
    Promise.resolve([
      makeJob({ attempts: [{ ...makeAttempt(), usd_per_hour: 3600 }] })
    ])
  );
  const running = new RunningJobs(read);
  expect(await running.look(pages)).toBe(true);
  expect(await running.look(pages)).toBe(true);
  expect(read).toHaveBeenCalledTimes(1);
  const [row] = pages.rows;
  const now = new Date('2026-11-18T12:00:12.5Z');
  const told = pages.shownListing.columns.map(column =>
    row === undefined ? null : running.soFar(pages, row, column, now)
  );
  expect(told).toEqual([10, 10.5]);
  pages.dispose();
});
