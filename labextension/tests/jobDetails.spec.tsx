import * as React from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';

import type { IJob } from '../src/contract';
import { JobModel } from '../src/core/jobModel';
import { Details } from '../src/views/job/details';
import { makeAttempt, makeJob, snapshotOf } from './jobs';

const NOW = new Date('2026-11-18T12:00:17Z');

function render(job: IJob): string {
  const model = new JobModel(snapshotOf(job), {
    ask: () => Promise.resolve(job),
    follow: () => expect.fail('nobody looks')
  });
  return renderToStaticMarkup(<Details model={model} now={NOW} />);
}

describe('Details', () => {
  it('shows how far a transfer is, at the state that it belongs to', () => {
    const transfer = {
      state: 'running' as const,
      done_bytes: 512,
      total_bytes: 2048
    };
    const job = makeJob({ attempts: [{ ...makeAttempt(), transfer }] });
    expect(render(job)).toMatch(
      /aria-current="step".*<progress aria-label="running: 512 B of 2 KB" max="2048" value="512">/
    );
    const over = { ...transfer, state: 'downloading' as const };
    const later = makeJob({
      attempts: [{ ...makeAttempt(), transfer: over }]
    });
    expect(render(later)).not.toContain('<progress');
  });

  it('draws what is used of CPU and memory against what was asked for, and says it', () => {
    const usage = {
      samples: [
        [0, 0.5, 2 ** 20, 0, 0],
        [5, 1.5, 2 ** 29, 0, 0],
        [10, 1, 2 ** 28, 0, 0]
      ] as [number, number, number, number, number][]
    };
    const attempt = { ...makeAttempt(), vcpu: 2, usage };
    const html = render(makeJob({ attempts: [attempt] }));
    expect(html).toContain('aria-label="CPU: 1 now, at most 1.5, of 2 vCPU"');
    expect(html).toContain(
      'aria-label="memory: 256 MB now, at most 512 MB, of 1 GB"'
    );
  });

  it('shows nothing of the attempt before while a job waits for its next one', () => {
    const usage = {
      samples: [
        [0, 0.5, 1, 0, 0],
        [5, 1.5, 1, 0, 0]
      ] as [number, number, number, number, number][]
    };
    const first = { ...makeAttempt({ ended: 'crashed' }), usage };
    const html = render(makeJob({ state: 'queued', attempts: [first] }));
    expect(html).not.toContain('CPU:');
    expect(html).toContain('queued again');
    expect(html).toContain('crashed: exit 1');
  });
});
