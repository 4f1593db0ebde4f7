import * as React from 'react';

import { asAcaiError } from '../core/connectionStore';
import { Retries } from '../core/retries';

/** What was answered last, why nothing was since, and a way to ask at once. */
export interface IAnswer<T> {
  found: T | null;
  failure: string;
  tryAgain: () => void;
}

/** Ask when it is shown, again later for what was not answered, and anew when `ask` is another function. */
export function useAnswer<T>(ask: () => Promise<T>): IAnswer<T> {
  const [found, setFound] = React.useState<T | null>(null);
  const [failure, setFailure] = React.useState('');
  const retries = React.useRef<Retries | null>(null);
  React.useEffect(() => {
    let isWanted = true;
    const turn = async () => {
      try {
        const answer = await ask();
        if (isWanted) {
          setFound(() => answer);
          setFailure('');
          mine.rest();
        }
      } catch (error) {
        const reason = asAcaiError(error);
        if (isWanted) {
          setFailure(reason.message);
          mine.fail(reason);
        }
      }
    };
    const mine = new Retries(() => void turn());
    retries.current = mine;
    void turn();
    return () => {
      isWanted = false;
      mine.dispose();
    };
  }, [ask]);
  const tryAgain = React.useCallback(() => {
    retries.current?.hurry();
  }, []);
  return { found, failure, tryAgain };
}
