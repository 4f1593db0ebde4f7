import * as React from 'react';

import type { IFound, IOrder } from '../contract';
import type { IPlace } from '../core/jobNumbers';
import type { JobPages } from '../core/jobPages';
import { trans } from '../core/translation';
import { type ICursor, isThere, useCursor } from './gridCursor';
import { Heading, widthOf } from './gridHeading';
import { Row } from './gridRow';
import type { Chosen } from './selection';

/** The height of a row, as the style sheet has it. */
export const ROW_PX = 26;
/** So many rows are there above and below those that can be seen. */
const SPARE = 10;

export interface IGridProps {
  pages: JobPages;
  chosen: Chosen;
  /** What a column says of a job that has not ended. */
  soFar: (row: IFound, column: string) => number | null;
  onToggle: (job: string) => void;
  /** Choose these too, once they are known. */
  onAdd: (jobs: Promise<string[]>) => void;
  onOpen: (job: number) => void;
  onOrder: (order: IOrder[]) => void;
}

/** Any number of jobs as a table of which only what can be seen is there. One stop of the Tab key; arrows move in it. */
export function Grid(props: IGridProps): React.ReactElement {
  const { pages, chosen, onOrder, onOpen } = props;
  const { columns, order, query } = pages.shownListing;
  const box = React.useRef<HTMLDivElement>(null);
  const [first, last] = useWindow(box, pages);
  const [cursor, setCursor] = useCursor(pages);
  React.useLayoutEffect(() => {
    if (box.current !== null) {
      box.current.scrollTop = 0;
    }
  }, [query]);
  const { count } = pages;
  const here = Math.min(cursor.active.index, Math.max(0, count - 1));
  const isHere =
    cursor.active.index === here &&
    (cursor.active.thing === undefined || isThere(pages, cursor.active));
  const end = Math.min(last, count);
  const name = React.useId();
  const acts = actsOn(props, box, cursor, setCursor);
  const keys = ['number', ...columns];
  const widths = keys.map(widthOf);
  const isSeen = isHere && first <= here && here < end;
  return (
    <div className="jp-AcaiGrid" ref={box}>
      <table
        role="grid"
        aria-label={trans.__('jobs')}
        aria-rowcount={count + 1}
        aria-multiselectable="true"
        aria-activedescendant={isSeen ? `${name}-${here}` : undefined}
        tabIndex={0}
        data-lm-suppress-shortcuts="true"
        style={{ minWidth: widths.reduce((a, b) => a + b, CHECK_PX) }}
        onKeyDown={event => {
          if (event.target === event.currentTarget && acts.press(event)) {
            event.preventDefault();
          }
        }}
        onMouseDown={event => {
          if (event.shiftKey) {
            // A range of rows, not of text.
            event.preventDefault();
            event.currentTarget.focus();
          }
        }}
      >
        <colgroup>
          <col style={{ width: CHECK_PX }} />
          {keys.map((key, at) => (
            <col key={key} style={{ width: widths[at] }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col" className="jp-AcaiGrid-check">
              <span className="jp-AcaiView-aside">{trans.__('chosen')}</span>
            </th>
            {keys.map(key => (
              <Heading key={key} name={key} order={order} onOrder={onOrder} />
            ))}
          </tr>
        </thead>
        <tbody>
          <Space rows={first} />
          {between(first, end).map(index => {
            // A click is meant for the job that was drawn, wherever it stands by then.
            const row = pages.row(index);
            return (
              <Row
                key={index}
                id={`${name}-${index}`}
                index={index}
                row={row}
                columns={columns}
                template={pages.valueOf(row, 'template')}
                soFar={props.soFar}
                isActive={isHere && index === here}
                isChosen={chosen.has(row?.thing ?? '')}
                onOpen={onOpen}
                onClick={event => {
                  acts.choose({ index, thing: row?.thing }, event);
                }}
              />
            );
          })}
          <Space rows={count - end} />
        </tbody>
      </table>
    </div>
  );
}

const CHECK_PX = 34;

/** What keys and clicks do where somebody is. */
function actsOn(
  props: IGridProps,
  box: React.RefObject<HTMLDivElement>,
  { active, anchor }: ICursor,
  setCursor: (cursor: ICursor) => void
): {
  choose: (place: IPlace, event: { shiftKey: boolean }) => void;
  press: (event: React.KeyboardEvent) => boolean;
} {
  const { pages, onToggle, onAdd, onOpen } = props;
  const go = (index: number) => {
    const next = Math.max(0, Math.min(pages.count - 1, index));
    setCursor({ active: pages.follow({ index: next }), anchor });
    bringIntoView(box.current, next);
  };
  /** A click or Space chooses, with Shift a range. */
  const choose = (place: IPlace, event: { shiftKey: boolean }) => {
    if (event.shiftKey) {
      setCursor({ active: place, anchor });
      onAdd(pages.between(anchor, place));
    } else if (place.thing !== undefined) {
      setCursor({ active: place, anchor: place });
      onToggle(place.thing);
    }
  };
  const press = (event: React.KeyboardEvent): boolean => {
    const { key } = event;
    const rows = Math.floor((box.current?.clientHeight ?? 0) / ROW_PX) - 2;
    const page = Math.max(1, rows);
    const moves: { [key: string]: number } = {
      ArrowDown: active.index + 1,
      ArrowUp: active.index - 1,
      PageDown: active.index + page,
      PageUp: active.index - page,
      Home: 0,
      End: pages.count - 1
    };
    const to = moves[key];
    if (to !== undefined) {
      go(to);
    } else if (key === 'a' && (event.ctrlKey || event.metaKey)) {
      if (!event.repeat) {
        onAdd(pages.all());
      }
    } else if (key !== 'Enter' && key !== ' ') {
      return false;
    } else if (!isThere(pages, active) && active.thing !== undefined) {
      // It is gone from where somebody saw it, and nothing is done to what stands there now.
      go(active.index);
    } else if (key === 'Enter') {
      onOpen(Number(active.thing ?? Number.NaN));
    } else {
      bringIntoView(box.current, active.index);
      choose(active, event);
    }
    return true;
  };
  return { choose, press };
}

/** Which rows are to be there, from where the box is scrolled to. */
function useWindow(
  box: React.RefObject<HTMLDivElement>,
  pages: JobPages
): [number, number] {
  const [window, setWindow] = React.useState<[number, number]>([0, 60]);
  React.useLayoutEffect(() => {
    const node = box.current;
    if (node === null) {
      return undefined;
    }
    const look = () => {
      const top = Math.floor(node.scrollTop / ROW_PX);
      const rows = Math.ceil(node.clientHeight / ROW_PX);
      const found: [number, number] = [
        Math.max(0, top - SPARE),
        top + rows + SPARE
      ];
      setWindow(before =>
        before[0] === found[0] && before[1] === found[1] ? before : found
      );
      pages.want(top, Math.max(top, Math.min(top + rows, pages.count - 1)));
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(node);
    node.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      node.removeEventListener('scroll', look);
    };
  }, [box, pages]);
  return window;
}

function bringIntoView(box: HTMLDivElement | null, index: number): void {
  if (box === null) {
    return;
  }
  const top = index * ROW_PX;
  const room = box.clientHeight - 2 * ROW_PX;
  if (top < box.scrollTop) {
    box.scrollTop = top;
  } else if (top > box.scrollTop + room) {
    box.scrollTop = top - room;
  }
}

function between(first: number, last: number): number[] {
  return Array.from(
    { length: Math.max(0, last - first) },
    (_, at) => first + at
  );
}

/** Rows that are out of sight. */
function Space(props: { rows: number }): React.ReactElement | null {
  return props.rows > 0 ? (
    <tr aria-hidden="true" style={{ height: props.rows * ROW_PX }} />
  ) : null;
}
