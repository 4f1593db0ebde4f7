import * as React from 'react';

import type { IAnchor } from '../../core/logScroll';

/** Where somebody is who has left the end: what takes the place of these lines begins there. */
export type ILogPlace = IAnchor;

/** Keep the first line that is seen, when lines are taken out of the page; at their end there is no place to be kept. */
export function useKeptPlace(
  place: React.MutableRefObject<ILogPlace | null>,
  node: React.RefObject<HTMLElement>,
  isKept: () => boolean
): void {
  const latest = React.useRef(isKept);
  React.useLayoutEffect(() => {
    latest.current = isKept;
  });
  React.useLayoutEffect(() => {
    const all = node.current;
    return () => {
      place.current = all !== null && latest.current() ? placeIn(all) : null;
    };
  }, [place, node]);
}

function placeIn(all: HTMLElement): ILogPlace | null {
  const { top } = all.getBoundingClientRect();
  for (const line of all.children) {
    const { top: from, bottom } = line.getBoundingClientRect();
    const number = line.querySelector<HTMLElement>('[data-number]');
    if (bottom > top && number !== null) {
      return { at: Number(number.dataset.number) - 1, y: from - top };
    }
  }
  return null;
}
