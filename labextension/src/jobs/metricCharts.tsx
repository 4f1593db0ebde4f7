import * as React from 'react';

import type { IJob } from '../contract';
import { asAcaiError } from '../core/connectionStore';
import { type IMetricSeries, metricsOf } from '../core/metricSeries';
import type { ProjectClient } from '../core/projectClient';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { formatValue } from '../core/values';

/** Of so many jobs, the first of those chosen, the metrics are read; so many metrics have a chart. */
const MOST_JOBS = 50;
const MOST_CHARTS = 24;
const WIDTH = 150;
const HEIGHT = 44;
const PAD = 5;

/** The metrics of some jobs, each as a small chart with a point for each job. */
export function MetricCharts(props: {
  numbers: readonly number[];
  client: ProjectClient;
}): React.ReactElement {
  const { numbers, client } = props;
  const [jobs, setJobs] = React.useState<readonly IJob[] | null>(null);
  const [failure, setFailure] = React.useState('');
  const wanted = numbers.slice(0, MOST_JOBS).join(' ');
  React.useEffect(() => {
    let isWanted = true;
    const asked = wanted.split(' ').map(one => client.job(Number(one)));
    Promise.all(asked).then(
      found => {
        if (isWanted) {
          setJobs(found);
          setFailure('');
        }
      },
      (error: unknown) => {
        if (isWanted) {
          setFailure(asAcaiError(error).message);
        }
      }
    );
    return () => {
      isWanted = false;
    };
  }, [wanted, client]);
  if (failure !== '') {
    return (
      <p className="jp-AcaiView-error" role="alert">
        {failure}
      </p>
    );
  }
  return (
    <section
      className="jp-AcaiCharts"
      aria-label={trans.__('metrics of the chosen jobs')}
      // It can be scrolled by the keyboard.
      tabIndex={0}
    >
      {jobs === null ? (
        <p role="status">{trans.__('Asking…')}</p>
      ) : (
        <Charts series={metricsOf(jobs)} />
      )}
      {numbers.length > MOST_JOBS && (
        <p>{trans.__('of the first %1 of them', MOST_JOBS)}</p>
      )}
    </section>
  );
}

/** Knows nothing of the server. */
export function Charts(props: {
  series: readonly IMetricSeries[];
}): React.ReactElement {
  const { series } = props;
  return series.length === 0 ? (
    <p>{trans.__('No two of them have a number of the same name.')}</p>
  ) : (
    <>
      {series.slice(0, MOST_CHARTS).map(one => (
        <Chart key={one.name} series={one} />
      ))}
    </>
  );
}

function Chart(props: { series: IMetricSeries }): React.ReactElement {
  const { name, points } = props.series;
  const values = points.map(one => one.value);
  const least = values.reduce((a, b) => Math.min(a, b));
  const most = values.reduce((a, b) => Math.max(a, b));
  const x = (at: number) =>
    PAD + (at / (points.length - 1)) * (WIDTH - 2 * PAD);
  const y = (value: number) =>
    most === least
      ? HEIGHT / 2
      : HEIGHT - PAD - ((value - least) / (most - least)) * (HEIGHT - 2 * PAD);
  const words = (value: number) => formatValue(name, value);
  const said = points.map(one =>
    trans.__('job %1: %2', one.job, words(one.value))
  );
  return (
    <figure>
      <figcaption title={oneLine(name)}>{oneLine(name)}</figcaption>
      <svg
        role="img"
        aria-label={`${oneLine(name)}: ${said.join(', ')}`}
        width={WIDTH}
        height={HEIGHT}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      >
        <polyline
          points={points
            .map((one, at) => `${x(at).toFixed(1)},${y(one.value).toFixed(1)}`)
            .join(' ')}
        />
        {points.map((one, at) => (
          <circle key={one.job} cx={x(at)} cy={y(one.value)} r={3}>
            <title>{said[at]}</title>
          </circle>
        ))}
      </svg>
      <span>
        {most === least
          ? words(most)
          : trans.__('%1 to %2', words(least), words(most))}
      </span>
    </figure>
  );
}
