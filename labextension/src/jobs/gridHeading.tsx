import * as React from 'react';

import type { IOrder } from '../contract';
import { headingOf } from '../core/headings';
import { trans } from '../core/translation';

/** A heading that sorts: first down, as the newest, dearest and best come first, then up, then as the query says. */
export function Heading(props: {
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
    <th
      scope="col"
      aria-sort={canSort ? direction : undefined}
      title={canSort ? undefined : trans.__('Lists have no order to sort by.')}
    >
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

const WIDTHS: { [key: string]: number } = {
  number: 74,
  name: 146,
  state: 104,
  creator: 90,
  created_at: 154,
  ended_at: 154,
  cost_usd: 134,
  input: 116,
  output: 110,
  tags: 120,
  template: 150
};

/** How wide a column is at least, in pixels; all grow alike. By what stands in view it would jump while one scrolls. */
export function widthOf(key: string): number {
  const heading = 48 + 8 * headingOf(key).length;
  return Math.min(260, Math.max(WIDTHS[key] ?? 92, heading));
}
