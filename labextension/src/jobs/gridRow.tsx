import * as React from 'react';

import type { IFound } from '../contract';
import { labelByTemplate } from '../core/jobLabel';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { formatValue, type Value } from '../core/values';

export interface IRowProps {
  id: string;
  index: number;
  row: IFound | undefined;
  columns: readonly string[];
  template: Value | undefined;
  isActive: boolean;
  isChosen: boolean;
  /** What a column says of a job that has not ended. */
  soFar: (row: IFound, column: string) => number | null;
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
        <Cell
          key={column}
          column={column}
          value={row?.values[at]}
          label={column === 'name' ? labelOf(props.template) : ''}
          soFar={row === undefined ? null : props.soFar(row, column)}
        />
      ))}
    </tr>
  );
}

function labelOf(template: Value | undefined): string {
  return typeof template === 'string' ? labelByTemplate(template) : '';
}

function Cell(props: {
  column: string;
  value: Value | undefined;
  /** What stands there, quietly, where there is no value. */
  label: string;
  soFar: number | null;
}): React.ReactElement {
  const { column, value, label, soFar } = props;
  const words = formatValue(column, soFar ?? value);
  const isNumber = typeof (soFar ?? value) === 'number';
  return (
    <td
      data-side={isNumber ? 'right' : 'left'}
      data-quiet={soFar !== null || words === '' ? '' : undefined}
      title={soFar === null ? words || label : trans.__('%1 so far', words)}
    >
      {column === 'state' ? (
        <span data-state={words}>{words}</span>
      ) : (
        words || label
      )}
    </td>
  );
}
