import * as React from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';

import type { ICreateJob, IJobRequest } from '../src/contract';
import {
  attemptRows,
  describePrediction,
  environmentRows
} from '../src/core/jobDetail';
import { Editing } from '../src/jobs/editing';
import { makeAttempt, makeFinished, makeJob } from './jobs';

function ask(request: ICreateJob): IJobRequest {
  return { number: 7, request, inputs: [], environment: {} };
}

describe('A job in detail', () => {
  it('says what became of each attempt', () => {
    const first = {
      ...makeAttempt(),
      exit_code: 1,
      run_seconds: 3,
      cost_usd: 0.02,
      machine: 'vm',
      usage: { max_memory_bytes: 1024 ** 2 }
    };
    first.transitions = [
      { state: 'failed', at: '2026-11-18T12:00:05Z', reason: 'exit 1' }
    ];
    expect(attemptRows(makeJob({ attempts: [first] }))).toEqual([
      {
        number: 1,
        machine: 'vm 1 vCPU, 1 GB',
        end: 'failed (exit 1), exit 1',
        runTime: '3 s',
        billedTime: '',
        cost: '$0.02',
        peak: '1 MB'
      }
    ]);
  });

  it('lists packages and what else it ran with', () => {
    const asked = ask({ command: 'true' });
    asked.environment = {
      python: '3.11',
      packages: { numpy: '2.0' },
      more: []
    };
    expect(environmentRows(asked)).toEqual([
      ['python', '3.11'],
      ['numpy', '2.0']
    ]);
  });

  it('holds what was predicted against what was', () => {
    expect(describePrediction(200, 186)).toBe(
      'predicted 3 min 20 s, took 3 min 6 s (7 % less)'
    );
    expect(describePrediction(10, 10)).toContain('as predicted');
  });

  it('shows labels, attributes and the note as text', () => {
    const job = makeFinished({
      tags: ['<img src=x>'],
      attributes: { accuracy: 0.97, note: '</textarea><script>' }
    });
    const markup = renderToStaticMarkup(
      <Editing job={job} onChange={() => Promise.resolve()} />
    );
    expect(markup).not.toContain('<img');
    expect(markup).not.toContain('<script>');
    expect(markup).toContain('remove accuracy 0.97');
    expect(markup).not.toContain('remove note');
  });
});
