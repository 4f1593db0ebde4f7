import * as React from 'react';

import type { Line } from '../../core/ansi';
import { textOf } from '../../core/logTail';
import { trans } from '../../core/translation';

/** A line with its place among those that were read. */
export interface IFoundLine {
  line: Line;
  at: number;
  /** Its number among all lines of the log, where that is known. */
  number?: number;
}

export function findLines(
  lines: readonly Line[],
  wanted: string
): IFoundLine[] {
  const low = wanted.toLowerCase();
  const all = lines.map((line, at) => ({ line, at }));
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
}

/** Lines in their looks. It stays at the end until somebody scrolls up. */
export function LogLines(props: ILogLinesProps): React.ReactElement {
  const { found, gone, job, wanted, wraps } = props;
  const node = React.useRef<HTMLPreElement>(null);
  const isAtEnd = React.useRef(true);
  React.useLayoutEffect(() => {
    if (node.current !== null && isAtEnd.current && wanted === '') {
      node.current.scrollTop = node.current.scrollHeight;
    }
  }, [found, wanted]);
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
      onScroll={event => {
        const at = event.currentTarget;
        isAtEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < 24;
      }}
    >
      {found.map(({ line, at, number }) => (
        <LogLine line={line} number={number} wanted={wanted} key={gone + at} />
      ))}
    </pre>
  );
}

const LogLine = React.memo(function LogLine(props: {
  line: Line;
  number?: number;
  wanted: string;
}): React.ReactElement {
  const { line, number, wanted } = props;
  return (
    <code>
      {number !== undefined && (
        <span className="jp-AcaiLog-number">{number}</span>
      )}
      {line.map(({ text, look }, index) =>
        look === '' ? (
          <Marked text={text} wanted={wanted} key={index} />
        ) : (
          <span className={classesOf(look)} key={index}>
            <Marked text={text} wanted={wanted} />
          </span>
        )
      )}
      {'\n'}
    </code>
  );
});

/** What was searched for is marked; what goes over a change of looks is found, and not marked. */
function Marked(props: { text: string; wanted: string }): React.ReactElement {
  const { text, wanted } = props;
  const parts: React.ReactNode[] = [];
  let from = 0;
  if (wanted !== '') {
    const [low, sought] = [text.toLowerCase(), wanted.toLowerCase()];
    // Where lower case has another length, places do not fit.
    let at = low.length === text.length ? low.indexOf(sought) : -1;
    for (; at >= 0; at = low.indexOf(sought, from)) {
      const to = at + sought.length;
      parts.push(text.slice(from, at));
      parts.push(<mark key={at}>{text.slice(at, to)}</mark>);
      from = to;
    }
  }
  return (
    <>
      {parts}
      {text.slice(from)}
    </>
  );
}

function classesOf(look: string): string {
  return look
    .split(' ')
    .map(one => `jp-AcaiLog-${one}`)
    .join(' ');
}
