/** Browsers make nothing higher than some 33 million pixels. */
export const HIGHEST_PX = 20_000_000;
/** So many lines are there above and below those that can be seen. */
const SPARE = 8;

/** What is measured: the height of a line that is not broken, and of what can be seen. */
export interface IMeasures {
  count: number;
  rowPx: number;
  viewPx: number;
}

/**
 * From where lines are seen: a line, of which the first is 0, and where its top is below the top of what can be seen. However
 * high other lines are, that one stays where it is.
 */
export interface IAnchor {
  at: number;
  y: number;
}

/** How high the scrollbar takes all lines to be. */
export function heightOf({ count, rowPx }: IMeasures): number {
  return Math.min(count * rowPx, HIGHEST_PX);
}

/** Which lines have to be there, from one to before another. */
export function linesAround(
  anchor: IAnchor,
  { count, rowPx, viewPx }: IMeasures
): [number, number] {
  const above = Math.max(0, Math.ceil(anchor.y / rowPx)) + SPARE;
  const below = Math.max(1, Math.ceil((viewPx - anchor.y) / rowPx)) + SPARE;
  return [
    Math.max(0, anchor.at - above),
    Math.min(count, anchor.at + below + 1)
  ];
}

/** What somebody sees who has moved the scrollbar: at its beginning the first line, at its end the last one. */
export function anchorAt(scrollPx: number, measures: IMeasures): IAnchor {
  const { count, rowPx, viewPx } = measures;
  const share = clamp(scrollPx / (heightOf(measures) - viewPx), 0, 1);
  // As if all lines were of one height; where they are, this is where the line is.
  const topPx = share * Math.max(0, count * rowPx - viewPx);
  const pointPx = topPx + share * viewPx;
  const at = clamp(Math.floor(pointPx / rowPx), 0, Math.max(0, count - 1));
  return { at, y: at * rowPx - topPx };
}

/** Where the scrollbar is when somebody sees this. */
export function scrollOf(anchor: IAnchor, measures: IMeasures): number {
  const { count, rowPx, viewPx } = measures;
  const room = Math.max(1, count * rowPx - viewPx);
  const share = clamp((anchor.at * rowPx - anchor.y) / room, 0, 1);
  return share * Math.max(0, heightOf(measures) - viewPx);
}

/** A line where it can be seen: the first ones above, the last ones below, the others between. */
export function anchorOn(line: number, measures: IMeasures): IAnchor {
  const { count, rowPx, viewPx } = measures;
  const at = clamp(line, 0, Math.max(0, count - 1));
  return { at, y: (at / Math.max(1, count - 1)) * (viewPx - rowPx) };
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}
