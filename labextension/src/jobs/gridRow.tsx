import * as React from 'react';

import type { IFound } from '../contract';
import { oneLine } from '../core/text';
import { formatValue, type Value } from '../core/values';

export interface IRowProps {
  id: string;
  index: number;
  row: IFound | undefined;
  columns: readonly string[];
  isActive: boolean;
  isChosen: boolean;
  onOpen: (job: number) => void;
  onClick: (event: React.MouseEvent) => void;
}

export function Row(props: IRowProps): React.ReactElement {
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
