import type { IJob } from '../contract';

/** One metric of some jobs, in the order of their numbers. */
export interface IMetricSeries {
  name: string;
  points: readonly { job: number; value: number }[];
}

/** The numbers among the attributes that at least two of these jobs have; what differs comes first. */
export function metricsOf(jobs: readonly IJob[]): IMetricSeries[] {
  const found = new Map<string, { job: number; value: number }[]>();
  for (const job of [...jobs].sort((a, b) => a.number - b.number)) {
    for (const [name, value] of Object.entries(job.attributes ?? {})) {
      if (typeof value === 'number' && Number.isFinite(value)) {
        const points = found.get(name) ?? [];
        points.push({ job: job.number, value });
        found.set(name, points);
      }
    }
  }
  return [...found]
    .map(([name, points]) => ({ name, points }))
    .filter(({ points }) => points.length > 1)
    .sort((a, b) => differs(b) - differs(a) || a.name.localeCompare(b.name));
}

function differs({ points }: IMetricSeries): number {
  return points.some(one => one.value !== points[0]?.value) ? 1 : 0;
}
