import * as React from 'react';

import type { IAnchor } from '../../core/logScroll';

/** Says where somebody is who has left the end, so that what takes the place of these lines can begin there. */
export type ILogPlace = React.MutableRefObject<(() => IAnchor | null) | null>;

/** Say where the first line is that is seen, as long as lines are in the page; at their end there is nothing to be said. */
export function useKeptPlace(
  place: ILogPlace,
  node: React.RefObject<HTMLElement>,
  isKept: () => boolean
): void {
  React.useLayoutEffect(() => {
    const say = () =>
      node.current !== null && isKept() ? placeIn(node.current) : null;
    place.current = say;
    return () => {
      if (place.current === say) {
        place.current = null;
      }
    };
  });
}

function placeIn(all: HTMLElement): IAnchor | null {
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
