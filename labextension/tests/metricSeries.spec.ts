import { describe, expect, it } from 'vitest';

import { metricsOf } from '../src/core/metricSeries';
import { makeJob } from './jobs';

describe('The metrics of some jobs', () => {
  it('are the numbers that two of them have, in the order of the jobs, what differs first', () => {
    const jobs = [
      makeJob({ number: 3, attributes: { same: 1, loss: 0.1, alone: 4 } }),
      makeJob({ number: 1, attributes: { same: 1, loss: 0.5, stage: 'new' } }),
      makeJob({ number: 2, attributes: { loss: Number.NaN, stage: 'old' } })
    ];
    expect(metricsOf(jobs)).toEqual([
      {
        name: 'loss',
        points: [
          { job: 1, value: 0.5 },
          { job: 3, value: 0.1 }
        ]
      },
      {
        name: 'same',
        points: [
          { job: 1, value: 1 },
          { job: 3, value: 1 }
        ]
      }
    ]);
  });
});
