import * as React from 'react';

import { trans } from '../../core/translation';

const WIDTH = 240;
const HEIGHT = 32;
const PAD = 2;

export interface ISparklineProps {
  name: string;
  /** Seconds since the start, and how much. */
  points: readonly (readonly [number, number])[];
  /** What was asked for; the broken line. */
  limit: number;
  format: (value: number) => string;
  /** What was asked for in words, where that has a unit that the numbers have not. */
  asked?: string;
}

/** A small curve of what was used, against what was asked for, and the same in words. */
export function Sparkline(props: ISparklineProps): React.ReactElement {
  const { name, points, limit, format, asked = format(limit) } = props;
  const values = points.map(point => point[1]);
  const now = values.at(-1) ?? 0;
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  const top = Math.max(limit, most) || 1;
  const first = points[0]?.[0] ?? 0;
  const length = (points.at(-1)?.[0] ?? 0) - first || 1;
  const x = (seconds: number) =>
    PAD + ((seconds - first) / length) * (WIDTH - 2 * PAD);
  const y = (value: number) =>
    HEIGHT - PAD - (value / top) * (HEIGHT - 2 * PAD);
  const line = points
    .map(point => `${x(point[0]).toFixed(1)},${y(point[1]).toFixed(1)}`)
    .join(' ');

  return (
    <div className="jp-AcaiJob-meter">
      <span>
        <span className="jp-AcaiJob-meterName">{name}</span>
        {` ${trans.__('%1 of %2, at most %3', format(now), asked, format(most))}`}
      </span>
      <svg
        role="img"
        aria-label={trans.__(
          '%1: %2 now, at most %3, of %4',
          name,
          format(now),
          format(most),
          asked
        )}
        width={WIDTH}
        height={HEIGHT}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      >
        <line
          className="jp-AcaiJob-limit"
          x1={0}
          x2={WIDTH}
          y1={y(limit)}
          y2={y(limit)}
        />
        <polygon
          className="jp-AcaiJob-area"
          points={`${PAD},${y(0)} ${line} ${WIDTH - PAD},${y(0)}`}
        />
        <polyline className="jp-AcaiJob-curve" points={line} />
      </svg>
    </div>
  );
}
