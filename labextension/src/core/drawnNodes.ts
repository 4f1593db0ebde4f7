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
const MORE = { width: 36, height: 24, gap: 2, above: 9 };

export function partOf(node: IDrawnNode, drawing: IDrawing): IPart {
  const { x, y, width, height } = node;
  return within(drawing, x - width / 2, y - height / 2, width, height);
}

/** What is not drawn before and behind a node. */
export function moreOf(node: IDrawnNode, drawing: IDrawing): IMore[] {
  const { x, y, width } = node;
  const { width: wide, height: high, gap, above } = MORE;
  const top = y - high / 2 - above;
  const found: IMore[] = [];
  if ((node.back ?? 0) > 0) {
    found.push({
      direction: 'back',
      count: node.back ?? 0,
      words: trans.__('draw what %1 was made of', wholeName(node)),
      part: within(drawing, x - width / 2 - wide - gap, top, wide, high)
    });
  }
  if ((node.forward ?? 0) > 0) {
    found.push({
      direction: 'forward',
      count: node.forward ?? 0,
      words: trans.__('draw what was made of %1', wholeName(node)),
      part: within(drawing, x + width / 2 + gap, top, wide, high)
    });
  }
  return found;
}

/** The file set in the middle, or that the job there has made; empty where there is none. */
export function setInTheMiddle({ focus, nodes, edges }: IDrawing): string {
  const made = edges.find(one => one.source === focus)?.target;
  const isSet = (id?: string) =>
    nodes.some(one => one.id === id && one.kind === 'file-set');
  return [focus, made].find(isSet) ?? '';
}

/** Which nodes a text is in the name of, those before that begin with it. */
export function nodesNamed(
  drawing: IDrawing | null,
  text: string
): { id: string; beginsSo: boolean }[] {
  const wanted = text.toLowerCase();
  const found = (drawing?.nodes ?? [])
    .map(one => ({ id: one.id, name: wholeName(one).toLowerCase() }))
    .filter(one => wanted !== '' && one.name.includes(wanted))
    .map(({ id, name }) => ({ id, beginsSo: name.startsWith(wanted) }));
  return [
    ...found.filter(one => one.beginsSo),
    ...found.filter(one => !one.beginsSo)
  ];
}

/** What a node is called, also where its shape has no room for it. */
export function wholeName(node: IDrawnNode): string {
  const { kind, thing = '', name = '', label } = node;
  return (kind === 'file-set' ? thing : name) || label;
}

/** A node to which one goes from another by a key; null where there is none that way. */
export function nodeBeside(
  nodes: readonly IDrawnNode[],
  from: IDrawnNode,
  key: string
): IDrawnNode | null {
  const way = WAYS[key];
  const sorted =
    way === undefined
      ? [...nodes].sort((one, other) => one.x - other.x || one.y - other.y)
      : nearest(nodes, from, way);
  return (key === 'End' ? sorted.at(-1) : sorted[0]) ?? null;
}

/** What stands nearest to where another stood. */
export function nodeNearest(
  nodes: readonly IDrawnNode[],
  { x, y }: { x: number; y: number }
): IDrawnNode | undefined {
  const far = (one: IDrawnNode) => Math.hypot(one.x - x, one.y - y);
  return [...nodes].sort((one, other) => far(one) - far(other))[0];
}

/** Between which lines nodes stand. */
export function edgesOf(nodes: readonly IDrawnNode[]) {
  return {
    left: Math.min(...nodes.map(one => one.x - one.width / 2)),
    right: Math.max(...nodes.map(one => one.x + one.width / 2)),
    top: Math.min(...nodes.map(one => one.y - one.height / 2)),
    bottom: Math.max(...nodes.map(one => one.y + one.height / 2))
  };
}

/** The nodes of a drawing that lie that way, the nearest first; what lies aside is twice as far. */
function nearest(
  nodes: readonly IDrawnNode[],
  from: IDrawnNode,
  [toRight, toBottom]: readonly [number, number]
): IDrawnNode[] {
  const found = nodes.map(node => {
    const [x, y] = [node.x - from.x, node.y - from.y];
    const ahead = toRight * x + toBottom * y;
    const aside = Math.abs(toBottom * x) + Math.abs(toRight * y);
    const isThatWay = ahead >= 1 && aside <= MOST_ASIDE * ahead;
    return { node, isThatWay, far: ahead + 2 * aside };
  });
  return found
    .filter(({ isThatWay }) => isThatWay)
    .sort((one, other) => one.far - other.far)
    .map(({ node }) => node);
}

const MOST_ASIDE = 3;
const WAYS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1]
};
const KEYS = new Set(['Home', 'End', ...Object.keys(WAYS)]);

/** Whether a key leads from node to node. */
export function isWay(key: string): boolean {
  return KEYS.has(key);
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
