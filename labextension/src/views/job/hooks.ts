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

/** Who presses twice in a moment means once, also where the first press is answered at once. */
const PRESS_MS = 1_000;

/** Do what a button is for, once at a time. Returns whether it is being done, and what to call for it. */
export function useOnce(act: () => Promise<void>): [boolean, () => void] {
  const [isBusy, setBusy] = React.useState(false);
  const press = () => {
    setBusy(true);
    const moment = new Promise<void>(resolve => {
      setTimeout(resolve, PRESS_MS);
    });
    void Promise.allSettled([act(), moment]).then(() => {
      setBusy(false);
    });
  };
  return [isBusy, press];
}
