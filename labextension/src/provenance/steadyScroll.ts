import * as React from 'react';

import type { IDrawing } from '../contract';
import { edgesOf } from '../core/drawnNodes';
import type { GraphExplorer } from '../core/graphExplorer';

interface ISeen {
  drawing: IDrawing;
  layout: number;
  steps: number;
}

/**
 * What is drawn further leaves what was there where it was on the screen, and comes into sight where somebody has opened it; what is
 * drawn anew has its middle in sight.
 */
export function useSteadyScroll(
  scroller: React.RefObject<HTMLDivElement>,
  drawing: IDrawing,
  explorer: GraphExplorer,
  zoom: number
): void {
  const before = React.useRef<ISeen | null>(null);
  React.useLayoutEffect(() => {
    const last = before.current;
    const steps = explorer.place.steps.length;
    before.current = { drawing, layout: explorer.layout, steps };
    const node = scroller.current;
    if (node === null || last?.drawing === drawing) {
      return;
    }
    if (last?.layout !== explorer.layout) {
      centre(node, drawing, zoom);
      return;
    }
    node.scrollLeft += (last.drawing.left - drawing.left) * zoom;
    node.scrollTop += (last.drawing.top - drawing.top) * zoom;
    if (steps > last.steps) {
      showNew(node, drawing, last.drawing, zoom);
    }
  }, [scroller, drawing, explorer, zoom]);
}

function centre(node: HTMLElement, drawing: IDrawing, zoom: number): void {
  const { clientWidth, clientHeight } = node;
  const isProject = drawing.focus === '';
  node.scrollLeft = isProject ? 0 : -drawing.left * zoom - clientWidth / 2;
  node.scrollTop = isProject ? 0 : -drawing.top * zoom - clientHeight / 2;
}

function showNew(
  node: HTMLElement,
  drawing: IDrawing,
  last: IDrawing,
  zoom: number
): void {
  const known = new Set(last.nodes.map(one => one.id));
  const added = drawing.nodes.filter(one => !known.has(one.id));
  if (added.length === 0) {
    return;
  }
  const { left, right, top, bottom } = edgesOf(added);
  const style = getComputedStyle(node);
  const [padX, padY] = [style.paddingLeft, style.paddingTop].map(parseFloat);
  const across = (x: number) => (x - drawing.left) * zoom + (padX ?? 0);
  const down = (y: number) => (y - drawing.top) * zoom + (padY ?? 0);
  node.scrollLeft = inSight(
    [node.scrollLeft, node.clientWidth],
    [across(left), across(right)]
  );
  node.scrollTop = inSight(
    [node.scrollTop, node.clientHeight],
    [down(top), down(bottom)]
  );
}

/** Where a view begins that moves as little as it can to have something in it, of what is too large the middle. */
export function inSight(
  [start, size]: readonly [number, number],
  [from, to]: readonly [number, number]
): number {
  if (to - from > size) {
    return (from + to - size) / 2;
  }
  return Math.min(Math.max(start, to - size), from);
}
