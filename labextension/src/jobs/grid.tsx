import * as React from 'react';

import type { IFound, IOrder } from '../contract';
import { headingOf } from '../core/headings';
import type { JobPages } from '../core/jobPages';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { formatValue, type Value } from '../core/values';
import { extend, type ISelection, toggle } from './selection';

/** The height of a row, as the style sheet has it. */
export const ROW_PX = 26;
/** So many rows are there above and below those that can be seen. */
const SPARE = 10;

export interface IGridProps {
  pages: JobPages;
  selection: ISelection;
  onSelect: (selection: ISelection) => void;
  onOpen: (job: number) => void;
  onOrder: (order: IOrder[]) => void;
}

/** Any number of jobs as a table of which only what can be seen is there. One stop of the Tab key; arrows move in it. */
export function Grid(props: IGridProps): React.ReactElement {
  const { pages, selection, onOrder } = props;
  const { columns, order } = pages.shownListing;
  const box = React.useRef<HTMLDivElement>(null);
  const [first, last] = useWindow(box, pages);
  const [active, setActive] = React.useState(0);
  const { count } = pages;
  const here = Math.min(active, Math.max(0, count - 1));
  const name = React.useId();
  const keys = useKeys({ ...props, box, active: here, setActive });
  return (
    <div className="jp-AcaiGrid" ref={box}>
      <table
        role="grid"
        aria-label={trans.__('jobs')}
        aria-rowcount={count + 1}
        aria-multiselectable="true"
        aria-activedescendant={count > 0 ? `${name}-${here}` : undefined}
        tabIndex={0}
        data-lm-suppress-shortcuts="true"
        onKeyDown={keys}
      >
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col" className="jp-AcaiGrid-check">
              <span className="jp-AcaiView-aside">{trans.__('chosen')}</span>
            </th>
            {['number', ...columns].map(key => (
              <Heading key={key} name={key} order={order} onOrder={onOrder} />
            ))}
          </tr>
        </thead>
        <tbody>
          <Space rows={first} />
          {between(first, Math.min(last, count)).map(index => (
            <Row
              key={index}
              id={`${name}-${index}`}
              index={index}
              row={pages.row(index)}
              columns={columns}
              isActive={index === here}
              isChosen={selection.chosen.has(pages.row(index)?.thing ?? '')}
              onOpen={props.onOpen}
              onClick={event => {
                setActive(index);
                choose(props, index, event);
              }}
            />
          ))}
          <Space rows={count - Math.min(last, count)} />
        </tbody>
      </table>
    </div>
  );
}

/** A click chooses, with Shift a range; on the number it opens, which the row does not hear of. */
function choose(
  props: IGridProps,
  index: number,
  event: { shiftKey: boolean }
): void {
  const { pages, selection, onSelect } = props;
  const thingAt = (at: number) => pages.row(at)?.thing;
  const thing = thingAt(index);
  if (event.shiftKey) {
    onSelect(extend(selection, index, thingAt));
  } else if (thing !== undefined) {
    onSelect(toggle(selection, thing, index));
  }
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

function useKeys(
  props: IGridProps & {
    box: React.RefObject<HTMLDivElement>;
    active: number;
    setActive: (index: number) => void;
  }
): (event: React.KeyboardEvent) => void {
  const { box, active, setActive, pages, onOpen } = props;
  return event => {
    if (event.target !== event.currentTarget) {
      return;
    }
    const page = Math.max(
      1,
      Math.floor((box.current?.clientHeight ?? 0) / ROW_PX) - 2
    );
    const moves: { [key: string]: number } = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: pages.count - 1
    };
    const to = moves[event.key];
    if (to !== undefined) {
      const next = Math.max(0, Math.min(pages.count - 1, to));
      setActive(next);
      bringIntoView(box.current, next);
    } else if (event.key === 'Enter') {
      onOpen(Number(pages.row(active)?.thing ?? Number.NaN));
    } else if (event.key === ' ') {
      choose(props, active, event);
    } else {
      return;
    }
    event.preventDefault();
  };
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

/** A heading that sorts: first down, as the newest, dearest and best come first, then up, then as the query says. */
function Heading(props: {
  name: string;
  order: readonly IOrder[];
  onOrder: (order: IOrder[]) => void;
}): React.ReactElement {
  const { name, order, onOrder } = props;
  const mine = order.find(one => one.key === name);
  const direction =
    mine === undefined
      ? 'none'
      : mine.descending === true
        ? 'descending'
        : 'ascending';
  const next: IOrder[] =
    direction === 'none'
      ? [{ key: name, descending: true }]
      : direction === 'descending'
        ? [{ key: name, descending: false }]
        : [];
  const mark = { ascending: ' ↑', descending: ' ↓', none: '' }[direction];
  const canSort = !UNORDERED.includes(name);
  return (
    <th scope="col" aria-sort={canSort ? direction : undefined}>
      {canSort ? (
        <button
          type="button"
          className="jp-AcaiJobs-heading"
          onClick={() => {
            onOrder(next);
          }}
        >
          {headingOf(name)}
          <span aria-hidden="true">{mark}</span>
        </button>
      ) : (
        <span className="jp-AcaiJobs-heading">{headingOf(name)}</span>
      )}
    </th>
  );
}

/** Lists have no order. */
const UNORDERED = ['tags', 'input', 'output'];

interface IRowProps {
  id: string;
  index: number;
  row: IFound | undefined;
  columns: readonly string[];
  isActive: boolean;
  isChosen: boolean;
  onOpen: (job: number) => void;
  onClick: (event: React.MouseEvent) => void;
}

function Row(props: IRowProps): React.ReactElement {
  const { id, index, row, columns, isActive, isChosen } = props;
  return (
    <tr
      id={id}
      aria-rowindex={index + 2}
      data-acai-thing={row?.thing}
      aria-selected={isChosen}
      data-active={isActive ? '' : undefined}
      onClick={props.onClick}
    >
      <td className="jp-AcaiGrid-check" aria-hidden="true">
        {isChosen ? '☑' : '☐'}
      </td>
      <td data-side="right">
        {row === undefined ? (
          '…'
        ) : (
          <button
            type="button"
            className="jp-AcaiView-button"
            // The keyboard opens a row by Enter.
            tabIndex={-1}
            onClick={event => {
              event.stopPropagation();
              props.onOpen(Number(row.thing));
            }}
          >
            {oneLine(row.thing)}
          </button>
        )}
      </td>
      {columns.map((column, at) => (
        <Cell key={column} column={column} value={row?.values[at]} />
      ))}
    </tr>
  );
}

function Cell(props: {
  column: string;
  value: Value | undefined;
}): React.ReactElement {
  const { column, value } = props;
  const words = formatValue(column, value);
  return (
    <td data-side={typeof value === 'number' ? 'right' : 'left'} title={words}>
      {column === 'state' ? <span data-state={words}>{words}</span> : words}
    </td>
  );
}
