import * as React from 'react';

import type { JobModel } from '../../core/jobModel';
import type { Ticker } from '../../core/ticker';

/** Render again whenever the job changes. */
export function useModel(model: JobModel): void {
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => model.subscribe(again), [model]);
}

/** The time now, every second while it is wanted. */
export function useSeconds(ticker: Ticker, isWanted: boolean): Date {
  const [now, setNow] = React.useState(() => new Date());
  React.useEffect(() => {
    if (!isWanted) {
      return undefined;
    }
    return ticker.subscribe(() => {
      setNow(new Date());
    });
  }, [ticker, isWanted]);
  return now;
}
