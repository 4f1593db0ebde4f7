import * as React from 'react';

import type { IPlace } from '../core/jobNumbers';
import type { JobPages } from '../core/jobPages';

/** Where somebody is in the table, and where a range begins: at jobs, which move while others come and go. */
export interface ICursor {
  active: IPlace;
  anchor: IPlace;
}

const TOP: IPlace = { index: 0 };

/** Keeps the jobs and finds their rows again; of another query it begins at the top. */
export function useCursor(
  pages: JobPages
): [ICursor, React.Dispatch<React.SetStateAction<ICursor>>] {
  const [cursor, setCursor] = React.useState<ICursor>({
    active: TOP,
    anchor: TOP
  });
  const { query } = pages.shownListing;
  React.useLayoutEffect(() => {
    setCursor({ active: pages.follow(TOP), anchor: pages.follow(TOP) });
  }, [pages, query]);
  React.useEffect(
    () =>
      pages.subscribe(() => {
        setCursor(({ active, anchor }) => ({
          active: pages.follow(active),
          anchor: pages.follow(anchor)
        }));
      }),
    [pages]
  );
  return [cursor, setCursor];
}

/** Whether a job is known to be where it was last seen; else one has to go to its row first. */
export function isThere(pages: JobPages, { index, thing }: IPlace): boolean {
  const there = pages.row(index)?.thing;
  return thing !== undefined && (there === undefined || there === thing);
}
