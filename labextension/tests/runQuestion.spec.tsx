import * as React from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';

import { FormView } from '../src/cells/formView';
import { JobForm } from '../src/core/jobForm';
import { RunQuestion, StartingRuns } from '../src/core/runQuestion';

/** A cell that may have a live run, and how often it was run from its form. */
class Cell {
  isLive = false;
  runs = 0;
  readonly question = new RunQuestion(
    () => this.isLive,
    () => {
      this.runs += 1;
    }
  );
}

function render({ question }: Cell): string {
  const unasked = () => expect.fail('nothing is asked of the server');
  const form = new JobForm(
    {
      limits: unasked,
      plan: unasked,
      provision: unasked,
      find: unasked,
      count: unasked
    },
    { notebook: 'a.ipynb', cell: 'one' },
    unasked
  );
  return renderToStaticMarkup(
    <FormView
      form={form}
      ran={null}
      question={question}
      kernel={() => ''}
      openGroups={[]}
      onClose={unasked}
    />
  );
}

describe('a cell that is run from its form', () => {
  it('runs without a question when no earlier run goes on', () => {
    const cell = new Cell();
    cell.question.press();
    expect(cell.runs).toBe(1);
    expect(cell.question.isOpen).toBe(false);
  });

  it('asks when a run has become known since the button was drawn', () => {
    const cell = new Cell();
    expect(render(cell)).toContain('aria-label="Run the cell as a job"');
    cell.isLive = true;
    cell.question.press();
    expect(cell.runs).toBe(0);
    const html = render(cell);
    expect(html).toContain('it runs already, run it once more');
    expect(html).toContain('do not');
    expect(html).not.toContain('aria-label="Run the cell as a job"');
  });

  it('runs once more, or not, by the answer', () => {
    const cell = new Cell();
    cell.isLive = true;
    cell.question.press();
    cell.question.decline();
    expect(cell.runs).toBe(0);
    expect(render(cell)).toContain('autofocus');
    cell.question.press();
    cell.question.confirm();
    expect(cell.runs).toBe(1);
    expect(cell.question.isOpen).toBe(false);
  });

  it('withdraws the question while the run seems to have ended, and keeps it for when it goes on', () => {
    const cell = new Cell();
    cell.isLive = true;
    cell.question.press();
    cell.isLive = false;
    expect(cell.question.isOpen).toBe(false);
    expect(render(cell)).not.toContain('autofocus');
    cell.isLive = true;
    expect(cell.question.isOpen).toBe(true);
    cell.question.confirm();
    expect(cell.runs).toBe(1);
  });

  it('asks also while a kernel that starts has not begun with the cell', async () => {
    const starting = new StartingRuns<string>();
    const kernels: (() => void)[] = [];
    let runs = 0;
    const running: Promise<void>[] = [];
    const question = new RunQuestion(
      () => starting.has('cell'),
      () => {
        runs += 1;
        const started = new Promise<void>(resolve => {
          kernels.push(resolve);
        });
        running.push(starting.during('cell', () => started));
      }
    );
    question.press();
    question.press();
    expect([runs, question.isOpen]).toEqual([1, true]);
    question.confirm();
    kernels[0]?.();
    await running[0];
    question.press();
    expect([runs, question.isOpen]).toEqual([2, true]);
    kernels[1]?.();
    await running[1];
    expect(question.isOpen).toBe(false);
    question.press();
    expect(runs).toBe(3);
  });

  it('is not taken for starting after its start has failed', async () => {
    const starting = new StartingRuns<string>();
    const failed = starting.during('cell', () =>
      Promise.reject(new Error('no kernel'))
    );
    expect(starting.has('cell')).toBe(true);
    await expect(failed).rejects.toThrow('no kernel');
    expect(starting.has('cell')).toBe(false);
  });
});
