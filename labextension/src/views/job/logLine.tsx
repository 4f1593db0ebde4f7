import * as React from 'react';

import type { Line } from '../../core/ansi';
import { trans } from '../../core/translation';

/** A line in its looks. Its number is drawn, so that it is neither found nor copied with the text. */
export const LogLine = React.memo(function LogLine(props: {
  /** Nothing before it is read. */
  line: Line | undefined;
  number?: number;
  wanted: string;
  isMarked?: boolean;
  onMark: (number: number) => void;
}): React.ReactElement {
  const { line, number, wanted, isMarked = false, onMark } = props;
  return (
    <code data-marked={isMarked ? '' : undefined}>
      {number !== undefined && (
        <button
          type="button"
          className="jp-AcaiLog-number"
          data-number={number}
          aria-label={trans.__('line %1', number)}
          // What is found is marked by the buttons above.
          tabIndex={-1}
          onClick={() => {
            onMark(number);
          }}
        />
      )}
      {line === undefined && '…'}
      {line?.map(({ text, look }, index) =>
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
