import * as React from 'react';

import type { LogPages } from '../../core/logPages';
import {
  anchorAt,
  anchorOn,
  heightOf,
  type IAnchor,
  type IMeasures,
  linesAround,
  scrollOf
} from '../../core/logScroll';
import { trans } from '../../core/translation';
import type { Line } from '../../core/ansi';
import type { ILogPlace } from './logPlace';
import { followFocus, type ILogFocus, useLogFocus } from './logFocus';
import { LogLine } from './logLine';

/** Before it is measured. */
const MEASURES = { rowPx: 17, viewPx: 320 };

/** A wish to see a line; the same line can be wished for again. */
export interface IGoal {
  number: number | 'end';
}

export interface ILogWindowProps {
  pages: LogPages;
  count: number;
  job: number;
  wanted: string;
  wraps: boolean;
  marked: number | null;
  goal: IGoal | null;
  onMark: (number: number) => void;
  focus: ILogFocus;
  /** Where somebody was in what stood here before. */
  place: ILogPlace;
  /** What is shown of a line in place of its beginning. */
  instead: (number: number) => Line | undefined;
}

/**
 * Any number of lines of which only those that can be seen are there. What somebody looks at is kept by one line and its
 * place, and the scrollbar follows: lines that wrap may be of any height, and browsers know no height for ten million.
 */
export function LogWindow(props: ILogWindowProps): React.ReactElement {
  const { pages, count, job, wanted, wraps, marked, onMark, focus } = props;
  const box = React.useRef<HTMLDivElement>(null);
  const rows = React.useRef<HTMLDivElement>(null);
  useLogFocus(focus, box);
  const { first, last, total, ...on } = useScroll(props, box, rows);
  return (
    <div
      ref={box}
      className="jp-AcaiLog-lines"
      data-wraps={wraps ? '' : undefined}
      data-window=""
      role="log"
      aria-live="off"
      aria-label={trans.__('Log of job %1', job)}
      // It can be scrolled by the keyboard.
      tabIndex={0}
      {...followFocus(focus)}
      {...on}
    >
      <div className="jp-AcaiLog-all" style={{ height: total }}>
        <div className="jp-AcaiLog-window">
          <div className="jp-AcaiLog-seen" ref={rows}>
            {between(first, Math.min(last, count)).map(at => (
              <LogLine
                key={at}
                line={props.instead(at + 1) ?? pages.line(at + 1)}
                number={at + 1}
                wanted={wanted}
                isMarked={at + 1 === marked}
                onMark={onMark}
              />
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}

interface IScroll {
  first: number;
  last: number;
  total: number;
  onScroll: () => void;
  onKeyDown: (event: React.KeyboardEvent) => void;
}

function useScroll(
  props: ILogWindowProps,
  box: React.RefObject<HTMLDivElement>,
  rows: React.RefObject<HTMLDivElement>
): IScroll {
  const { pages, count, goal, place } = props;
  const [, again] = React.useReducer((turn: number) => turn + 1, 0);
  // It is asked before the lines that stood here go out of the page.
  const [begun] = React.useState(() => place.current?.() ?? null);
  const state = React.useRef<IState>({
    ...MEASURES,
    anchor: begun ?? { at: count - 1, y: MEASURES.viewPx },
    isAtEnd: begun === null,
    isHeld: begun !== null,
    scrollPx: 0,
    // What was wished for before somebody went elsewhere is past.
    goal: begun === null ? null : goal
  });
  const now = state.current;
  const measures = { count, rowPx: now.rowPx, viewPx: now.viewPx };
  if (goal !== null && goal !== now.goal) {
    now.goal = goal;
    now.isAtEnd = goal.number === 'end';
    if (goal.number !== 'end') {
      now.anchor = anchorOn(goal.number - 1, measures);
      now.isHeld = true;
    }
  }
  if (now.isAtEnd || now.anchor.at >= count) {
    now.anchor = { at: Math.max(0, count - 1), y: now.viewPx - now.rowPx };
  }
  const [first, last] = linesAround(now.anchor, measures);
  React.useLayoutEffect(() => {
    const [node, list] = [box.current, rows.current];
    if (node !== null && list !== null) {
      now.viewPx = node.clientHeight;
      now.rowPx = parseFloat(getComputedStyle(node).lineHeight) || now.rowPx;
      const seen = settle(now, list, [first, Math.min(last, count)], count);
      const { rowPx, viewPx } = now;
      bringBar(now, node, { count, rowPx, viewPx });
      pages.want(seen[0] + 1, seen[1] + 1, now.isAtEnd);
    }
  });
  const move = React.useCallback(
    (byPx: number) => {
      now.isAtEnd = now.isHeld = false;
      now.anchor = { ...now.anchor, y: now.anchor.y - byPx };
      again();
    },
    [now]
  );
  useWheel(box, now, move);
  useSize(box, again);
  return {
    first,
    last,
    total: heightOf(measures),
    onScroll: () => {
      const node = box.current;
      if (node !== null && Math.abs(node.scrollTop - now.scrollPx) > 1) {
        now.isHeld = false;
        now.scrollPx = node.scrollTop;
        now.isAtEnd =
          node.scrollTop >= node.scrollHeight - node.clientHeight - 1;
        now.anchor = anchorAt(node.scrollTop, measures);
        again();
      }
    },
    onKeyDown: event => {
      const page = Math.max(now.rowPx, now.viewPx - 2 * now.rowPx);
      const moves: { [key: string]: number } = {
        ArrowDown: now.rowPx,
        ArrowUp: -now.rowPx,
        PageDown: page,
        PageUp: -page
      };
      const by = moves[event.key];
      if (event.target !== event.currentTarget || event.altKey) {
        return;
      }
      if (by !== undefined) {
        move(by);
      } else if (event.key === 'Home' || event.key === 'End') {
        now.isHeld = false;
        now.isAtEnd = event.key === 'End';
        now.anchor = { at: 0, y: 0 };
        again();
      } else {
        return;
      }
      event.preventDefault();
    }
  };
}

interface IState {
  rowPx: number;
  viewPx: number;
  anchor: IAnchor;
  /** What comes is seen. */
  isAtEnd: boolean;
  /** The line that was gone to stays while lines above it are read, until somebody moves. */
  isHeld: boolean;
  /** Where the scrollbar was put; what it says beside that, somebody has moved it to. */
  scrollPx: number;
  goal: IGoal | null;
}

/** Put the lines that are there where the anchor says, but no gap above the first or below the last. Returns which are seen. */
function settle(
  state: IState,
  list: HTMLElement,
  [first, last]: [number, number],
  count: number
): [number, number] {
  const nodes = [...list.children] as HTMLElement[];
  const { anchor, viewPx } = state;
  const anchorPx = nodes[anchor.at - first]?.offsetTop ?? 0;
  const high = list.offsetHeight;
  let top = anchor.y - anchorPx;
  if (last === count && (state.isAtEnd || top + high < viewPx)) {
    top = viewPx - high;
  }
  if (first === 0 && top > 0) {
    top = 0;
  }
  state.isAtEnd = last === count && top + high <= viewPx + 0.5;
  list.style.transform = `translateY(${top}px)`;
  const seen = nodes.flatMap((node, at) => {
    const from = top + node.offsetTop;
    return from + node.offsetHeight > 0 && from < viewPx ? [at] : [];
  });
  const begin = seen[0] ?? 0;
  state.anchor = state.isHeld
    ? { at: anchor.at, y: top + anchorPx }
    : { at: first + begin, y: top + (nodes[begin]?.offsetTop ?? 0) };
  return [first + begin, first + (seen.at(-1) ?? begin)];
}

function bringBar(state: IState, node: HTMLElement, measures: IMeasures): void {
  const most = heightOf(measures) - measures.viewPx;
  const px = state.isAtEnd ? most : scrollOf(state.anchor, measures);
  if (Math.abs(node.scrollTop - px) > 1) {
    node.scrollTop = px;
  }
  state.scrollPx = node.scrollTop;
}

/** The wheel moves by what is seen, not by the scrollbar. Beyond the first and the last line it moves what is around. */
function useWheel(
  box: React.RefObject<HTMLDivElement>,
  state: IState,
  move: (byPx: number) => void
): void {
  React.useEffect(() => {
    const node = box.current;
    const turn = (event: WheelEvent) => {
      const byPx =
        event.deltaMode === WheelEvent.DOM_DELTA_LINE
          ? event.deltaY * state.rowPx
          : event.deltaY;
      const isAtBegin = state.anchor.at === 0 && state.anchor.y >= 0;
      const isOver = byPx < 0 ? isAtBegin : state.isAtEnd;
      const isOther =
        event.ctrlKey ||
        event.shiftKey ||
        Math.abs(event.deltaX) > Math.abs(byPx);
      if (!isOver && !isOther && byPx !== 0) {
        event.preventDefault();
        move(byPx);
      }
    };
    node?.addEventListener('wheel', turn, { passive: false });
    return () => {
      node?.removeEventListener('wheel', turn);
    };
  }, [box, state, move]);
}

function useSize(
  box: React.RefObject<HTMLDivElement>,
  again: () => void
): void {
  React.useEffect(() => {
    const observer = new ResizeObserver(again);
    if (box.current !== null) {
      observer.observe(box.current);
    }
    return () => {
      observer.disconnect();
    };
  }, [box, again]);
}

function between(first: number, last: number): number[] {
  return Array.from(
    { length: Math.max(0, last - first) },
    (_, at) => first + at
  );
}
