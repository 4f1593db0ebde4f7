import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { ICosts, IEvent, IOverview } from '../src/contract';
import { budgetNotice } from '../src/core/budgetNotices';
import { EndNotices, type INotice } from '../src/core/endNotices';
import { OverviewStore } from '../src/core/overviewStore';
import { describeProject } from '../src/core/overviewText';
import { makeAttempt, makeFinished, makeJob } from './jobs';

function makeEvent(kind: string, job: number, number = 1): IEvent {
  return {
    number,
    kind,
    subject: `job ${job}`,
    created_at: '2026-11-18T12:00:00Z'
  };
}

function makeCosts(usd: number): ICosts {
  const total = {
    key: '',
    jobs: 1,
    attempts: 1,
    billed_seconds: 1,
    cost_usd: usd
  };
  return { by: 'day', rows: [], total };
}

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-11-18T12:00:00Z') });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A store over a server that counts how often it is asked. */
function follow(overview: IOverview, usd = 0.5) {
  const asked: Date[] = [];
  const store = new OverviewStore({
    overview: () => Promise.resolve(overview),
    costs: since => {
      asked.push(since);
      return Promise.resolve(makeCosts(usd));
    }
  });
  return { store, asked };
}

const NOTHING: IOverview = { running: [], waiting: [], recent: [], states: {} };

describe('OverviewStore', () => {
  it('asks nothing before somebody looks, then for what was spent since midnight', async () => {
    const { store, asked } = follow(NOTHING);
    store.hear(makeEvent('job_queued', 1));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(asked).toEqual([]);
    store.setSeen(true);
    await vi.advanceTimersByTimeAsync(0);
    expect(store.overview).toBe(NOTHING);
    expect(asked.map(one => [one.getHours(), one.getMinutes()])).toEqual([
      [0, 0]
    ]);
    store.dispose();
  });

  it('asks once a second however many jobs change, and once more after the last', async () => {
    const { store, asked } = follow(NOTHING);
    store.setSeen(true);
    await vi.advanceTimersByTimeAsync(0);
    for (let number = 1; number <= 150; number += 1) {
      store.hear(makeEvent('job_running', number, number));
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(asked.length).toBeLessThanOrEqual(3);
    const before = asked.length;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(asked.length).toBe(before + 1);
    store.dispose();
  });

  it('does not ask because a job goes on', async () => {
    const { store, asked } = follow(NOTHING);
    store.setSeen(true);
    await vi.advanceTimersByTimeAsync(0);
    store.hear(makeEvent('job_progressed', 1));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(asked.length).toBe(1);
    store.dispose();
  });

  it('counts what runs go on costing between two answers', async () => {
    const job = makeJob({
      attempts: [{ ...makeAttempt(), usd_per_hour: 3.6 }]
    });
    const { store } = follow({
      ...NOTHING,
      running: [job],
      states: { running: 1 }
    });
    store.setSeen(true);
    await vi.advanceTimersByTimeAsync(0);
    const later = new Date(Date.now() + 10_000);
    expect(store.costToday(later)).toBeCloseTo(0.51);
    expect(
      describeProject(
        { ...NOTHING, states: { running: 2, launching: 1, queued: 4 } },
        0.51
      )
    ).toBe('3 running · 4 waiting · $0.51 today');
    store.dispose();
  });

  it('keeps what it knew when the server does not answer, and says why', async () => {
    let isAway = false;
    const store = new OverviewStore({
      overview: () =>
        isAway ? Promise.reject(new Error('away')) : Promise.resolve(NOTHING),
      costs: () => Promise.resolve(makeCosts(0))
    });
    store.setSeen(true);
    await vi.advanceTimersByTimeAsync(0);
    isAway = true;
    store.doubt();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(store.overview).toBe(NOTHING);
    expect(store.error?.message).toContain('away');
    store.dispose();
  });
});

describe('budgetNotice', () => {
  const about = (kind: string, subject: string) =>
    budgetNotice({ ...makeEvent(kind, 1), subject }, 'ann')?.sentence;

  it('tells of the budgets that one spends from, and of no others', () => {
    expect(about('budget_near', 'the project in 2026-11')).toBe(
      'Four fifths of the budget of the project in 2026-11 is spent'
    );
    expect(about('budget_spent', 'ann')).toBe(
      'All of the budget of ann is spent'
    );
    expect(about('budget_near', 'annabel')).toBeUndefined();
    expect(about('budget_changed', 'the project')).toBeUndefined();
    expect(about('job_finished', 'job 1')).toBeUndefined();
  });
});

describe('EndNotices', () => {
  function watch(isLookedAt: boolean, own: readonly number[]) {
    const told: INotice[] = [];
    const notices = new EndNotices({
      isLookedAt: () => isLookedAt,
      user: () => 'you',
      choose: numbers =>
        Promise.resolve(
          numbers
            .filter(number => own.includes(number))
            .map(number => ({
              number,
              state: number === 5 ? 'failed' : 'finished'
            }))
        ),
      ask: number => Promise.resolve(makeFinished({ number })),
      notify: notice => told.push(notice)
    });
    return { told, notices };
  }

  it('tells of own jobs that end while nobody looks, and of nothing else', async () => {
    const { told, notices } = watch(false, [1]);
    notices.hear(makeEvent('job_running', 1));
    notices.hear(makeEvent('job_finished', 1));
    notices.hear(makeEvent('job_finished', 2));
    await vi.advanceTimersByTimeAsync(1_500);
    expect(told.map(one => [one.tone, one.jobs])).toEqual([['good', [1]]]);
    expect(told[0]?.sentence).toContain('job 1 · finished');
  });

  it('tells of many together', async () => {
    const numbers = [1, 2, 3, 4, 5];
    const { told, notices } = watch(false, numbers);
    for (const number of numbers) {
      notices.hear(makeEvent('job_finished', number, number));
    }
    await vi.advanceTimersByTimeAsync(1_500);
    expect(told.map(one => [one.tone, one.sentence])).toEqual([
      ['bad', '5 jobs have ended: 4 finished, 1 failed']
    ]);
  });

  it('says nothing to who looks', async () => {
    const { told, notices } = watch(true, [1]);
    notices.hear(makeEvent('job_failed', 1));
    await vi.advanceTimersByTimeAsync(1_500);
    expect(told).toEqual([]);
  });
});
