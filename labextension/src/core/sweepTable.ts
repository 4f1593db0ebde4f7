import type { IFound, ISweepRow, ISweepTable } from '../contract';
import { formatMoney } from './format';
import { isGiven } from './given';
import { hasEndedIn } from './jobText';
import { trans } from './translation';
import { formatValue } from './values';

/** A sweep's jobs as rows of values, with the names of their columns; a metric called like a parameter stands apart. */
export function pageOf(table: ISweepTable): {
  columns: string[];
  rows: IFound[];
} {
  const named = table.parameters.map(name =>
    table.metrics.includes(name) ? `params.${name}` : name
  );
  const columns = [
    ...named,
    'state',
    ...table.metrics,
    'billed_seconds',
    'cost_usd',
    'output'
  ];
  const rows = table.rows.map(row => ({
    thing: String(row.job),
    values: [
      ...table.parameters.map(name => row.parameters[name] ?? null),
      row.state,
      ...table.metrics.map(key => row.attributes[key] ?? null),
      row.billed_seconds ?? null,
      row.cost_usd ?? null,
      row.output ?? null
    ]
  }));
  return { columns, rows };
}

/** What jobs can be compared by: attributes of which finished ones have numbers. */
export function metricsOf(table: ISweepTable): string[] {
  return table.metrics.filter(key =>
    table.rows.some(row => numberOf(row, key) !== null)
  );
}

/** By what the best is marked at first: where finished jobs differ, and whether less is better by its name. */
export function firstMetric(table: ISweepTable): string | null {
  const differ = metricsOf(table).find(
    key =>
      new Set(table.rows.map(row => numberOf(row, key)).filter(isGiven)).size >
      1
  );
  return differ ?? metricsOf(table)[0] ?? null;
}

export function isBetterLow(metric: string): boolean {
  return LOWER_IS_BETTER.test(metric);
}

/** The finished job with the highest or lowest value; of several the first. */
export function bestOf(
  table: ISweepTable,
  metric: string,
  isLow: boolean
): ISweepRow | null {
  let best: ISweepRow | null = null;
  let most = 0;
  for (const row of table.rows) {
    const value = numberOf(row, metric);
    if (
      value !== null &&
      (best === null || (isLow ? value < most : value > most))
    ) {
      [best, most] = [row, value];
    }
  }
  return best;
}

/** `sweep-7 · 4 jobs · 1 running, 3 finished · $0.02`. */
export function describeSweep(table: ISweepTable, count: number): string {
  return `${table.tag} · ${standingOfSweep(table, count)}`;
}

/** The same without its name. */
export function standingOfSweep(table: ISweepTable, count: number): string {
  const states = new Map<string, number>();
  for (const { state } of table.rows) {
    states.set(state, (states.get(state) ?? 0) + 1);
  }
  const each = [...states].map(([state, many]) => `${many} ${state}`);
  const cost = table.rows.reduce((sum, row) => sum + (row.cost_usd ?? 0), 0);
  return [
    trans._n('%1 job', '%1 jobs', count),
    each.join(', '),
    ...(cost > 0 ? [formatMoney(cost)] : [])
  ].join(' · ');
}

export function describeBest(row: ISweepRow, metric: string): string {
  const value = row.attributes[metric];
  return isGiven(value)
    ? trans.__(
        'best by %1: job %2 (%3)',
        metric,
        row.job,
        formatValue(metric, value)
      )
    : '';
}

/** Whether a job may still change by itself. */
export function isLive(table: ISweepTable): boolean {
  return table.rows.some(({ state }) => !hasEndedIn(state));
}

function numberOf(row: ISweepRow, key: string): number | null {
  const value = row.attributes[key];
  return row.state === 'finished' && typeof value === 'number' ? value : null;
}

const LOWER_IS_BETTER =
  /(?:^|[_.-])(?:loss|err|error|mse|rmse|mae|perplexity|seconds|bytes|usd)(?:$|[_.-])/i;
