import * as React from 'react';

import type { ISpan, Line } from '../../core/ansi';
import { ownColours } from '../../core/legible';
import { trans } from '../../core/translation';

/** How a look names a mixture. */
const MIXED = '-rgb-';

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
      <span className="jp-AcaiLog-text">
        {line === undefined && '…'}
        {line?.map((span, index) => (
          <Stretch
            span={span}
            isFirst={index === 0}
            wanted={wanted}
            key={index}
          />
        ))}
        {'\n'}
      </span>
    </code>
  );
});

/** A part of a line in its look, or a mark where some of it is not shown. */
function Stretch(props: {
  span: ISpan;
  isFirst: boolean;
  wanted: string;
}): React.ReactElement {
  const { span, isFirst, wanted } = props;
  const { text, look, cut } = span;
  if (cut !== undefined) {
    const many = cut.toLocaleString('en-US');
    return (
      <span className="jp-AcaiLog-cut">
        {isFirst ? trans.__('%1 before …', many) : trans.__('… %1 more', many)}
      </span>
    );
  }
  const marked = <Marked text={text} wanted={wanted} />;
  return look === '' ? (
    marked
  ) : (
    <span className={classesOf(look)} style={styleOf(look)}>
      {marked}
    </span>
  );
}

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
  const own = look.includes(MIXED) ? ['own'] : [];
  return [...look.split(' ').filter(one => !one.includes(MIXED)), ...own]
    .map(one => `jp-AcaiLog-${one}`)
    .join(' ');
}

/** Both colours of a stretch that has its own: which of them is shown depends on the theme. */
function styleOf(look: string): React.CSSProperties | undefined {
  const colours = look.includes(MIXED) ? ownColours(look) : null;
  return colours === null
    ? undefined
    : {
        color: `light-dark(${colours.light}, ${colours.dark})`,
        background: colours.ground ?? undefined
      };
}
