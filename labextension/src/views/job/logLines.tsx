import * as React from 'react';

import type { Line } from '../../core/ansi';
import { textOf } from '../../core/logTail';
import { trans } from '../../core/translation';
import { LogLine } from './logLine';
import { followFocus, type ILogFocus, useLogFocus } from './logFocus';
import { type ILogPlace, useKeptPlace } from './logPlace';
import type { IGoal } from './logWindow';

/** A line with its place among those that were read. */
export interface IFoundLine {
  line: Line;
  at: number;
  /** Its number among all lines of the log, where that is known. */
  number?: number;
}

/** The lines of a log that have some text; their numbers where the first one is the log's. */
export function findLines(
  lines: readonly Line[],
  wanted: string,
  isWhole = true
): IFoundLine[] {
  const low = wanted.toLowerCase();
  const all = lines.map((line, at) => ({
    line,
    at,
    number: isWhole ? at + 1 : undefined
  }));
  return low === ''
    ? all
    : all.filter(({ line }) => textOf(line).toLowerCase().includes(low));
}

export interface ILogLinesProps {
  found: readonly IFoundLine[];
  /** How many lines are not held any more: a line keeps its key when those before it go. */
  gone: number;
  job: number;
  wanted: string;
  /** Whether a long line goes on below its beginning. */
  wraps: boolean;
  marked: number | null;
  goal: IGoal | null;
  onMark: (number: number) => void;
  /** The first line is to be seen, before it is there. */
  onBegin: () => void;
  focus: ILogFocus;
  place: ILogPlace;
  /** What is shown of a line in place of its beginning. */
  instead: (number: number) => Line | undefined;
}

/** Lines in their looks. It stays at the end until somebody scrolls up. */
export function LogLines(props: ILogLinesProps): React.ReactElement {
  const { found, gone, job, wanted, wraps, marked, goal, onMark, onBegin } =
    props;
  const { focus, place, instead } = props;
  const node = React.useRef<HTMLPreElement>(null);
  const isAtEnd = React.useRef(true);
  useLogFocus(focus, node);
  useKeptPlace(place, node, () => !isAtEnd.current && wanted === '');
  React.useLayoutEffect(() => {
    if (node.current !== null && isAtEnd.current && wanted === '') {
      node.current.scrollTop = node.current.scrollHeight;
    }
  }, [found, wanted]);
  React.useLayoutEffect(() => {
    const all = node.current;
    if (goal?.number === 'end' && all !== null) {
      all.scrollTop = all.scrollHeight;
    }
    if (typeof goal?.number === 'number') {
      isAtEnd.current = false;
      all
        ?.querySelector(`[data-number="${goal.number}"]`)
        ?.scrollIntoView({ block: 'nearest' });
    }
  }, [goal]);
  return (
    <pre
      ref={node}
      className="jp-AcaiLog-lines"
      data-wraps={wraps ? '' : undefined}
      role="log"
      aria-live="off"
      aria-label={trans.__('Log of job %1', job)}
      // It can be scrolled by the keyboard.
      tabIndex={0}
      {...followFocus(focus)}
      onKeyDown={event => {
        if (event.key === 'Home' && event.target === event.currentTarget) {
          onBegin();
        }
      }}
      onScroll={event => {
        const at = event.currentTarget;
        isAtEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < 24;
      }}
    >
      {found.map(({ line, at, number }) => (
        <LogLine
          line={(number === undefined ? undefined : instead(number)) ?? line}
          number={number}
          wanted={wanted}
          isMarked={number !== undefined && number === marked}
          onMark={onMark}
          key={gone + at}
        />
      ))}
    </pre>
  );
}
