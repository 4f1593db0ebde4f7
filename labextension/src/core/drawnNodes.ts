import type { IDrawing, IDrawnNode, IStep } from '../contract';
import { trans } from './translation';

/** A rectangle of a drawing, as parts of its width and height. */
export interface IPart {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** A mark at a side of a node, behind which there is more. */
export interface IMore {
  direction: IStep['direction'];
  count: number;
  words: string;
  part: IPart;
}

/** So wide and high is what one can press beside a node, in the drawing's own units. */
const MORE = { width: 30, height: 24, gap: 2 };

export function partOf(node: IDrawnNode, drawing: IDrawing): IPart {
  const { x, y, width, height } = node;
  return within(drawing, x - width / 2, y - height / 2, width, height);
}

/** What is not drawn before and behind a node. */
export function moreOf(node: IDrawnNode, drawing: IDrawing): IMore[] {
  const { x, y, width } = node;
  const { width: wide, height: high, gap } = MORE;
  const top = y - high / 2;
  const found: IMore[] = [];
  if ((node.back ?? 0) > 0) {
    found.push({
      direction: 'back',
      count: node.back ?? 0,
      words: trans.__('draw what %1 was made of', node.label),
      part: within(drawing, x - width / 2 - wide - gap, top, wide, high)
    });
  }
  if ((node.forward ?? 0) > 0) {
    found.push({
      direction: 'forward',
      count: node.forward ?? 0,
      words: trans.__('draw what was made of %1', node.label),
      part: within(drawing, x + width / 2 + gap, top, wide, high)
    });
  }
  return found;
}

function within(
  drawing: IDrawing,
  x: number,
  y: number,
  width: number,
  height: number
): IPart {
  return {
    left: (x - drawing.left) / drawing.width,
    top: (y - drawing.top) / drawing.height,
    width: width / drawing.width,
    height: height / drawing.height
  };
}
