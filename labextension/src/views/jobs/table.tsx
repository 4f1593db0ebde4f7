import * as React from 'react';

import type { IFound } from '../../contract';
import { trans } from '../../core/translation';
import { formatValue, type Value } from '../../core/values';
import { isGiven } from '../../core/given';
import { QUERY_EXAMPLE } from '../../core/queryText';
import { oneLine } from '../../core/text';
import { OpenedJob, useOpened } from './opened';
import type { ViewServices } from '../services';
import type { JobsModel } from './model';
import { type IOrder, nextOrder, sorted } from './order';
import { ofState, StateFilter, statesOf } from './states';

export interface IJobsTableProps {
  model: JobsModel;
  project: string;
  services: ViewServices;
}

/** Jobs in rows. A heading sorts them, the field above asks for others, a number opens the job below. */
export function JobsTable(props: IJobsTableProps): React.ReactElement {
  const { model, project, services } = props;
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => model.subscribe(again), [model]);
  const [order, setOrder] = React.useState<IOrder | null>(null);
  const [chosen, setChosen] = React.useState<string | null>(null);
  const opened = useOpened(services, project);
  const { columns, rows, next } = model.page;
  const states = statesOf(columns, rows);
  const state = chosen !== null && states.has(chosen) ? chosen : null;
  return (
    <section aria-label={trans.__('jobs')} data-acai-project={project}>
      <QueryField model={model} />
      {model.error !== null && (
        <p className="jp-AcaiView-error jp-AcaiJobs-fault" role="alert">
          {model.error.message}
        </p>
      )}
      <StateFilter states={states} chosen={state} onChoose={setChosen} />
      <div className="jp-AcaiJobs-scroll">
        <table className="jp-AcaiJobs-table">
          <thead>
            <tr>
              {['job', ...columns].map((name, index) => (
                <Heading
                  key={name}
                  name={name}
                  isNumber={isOfNumbers(rows, index - 1)}
                  order={order}
                  onOrder={() => {
                    setOrder(nextOrder(order, index - 1));
                  }}
                  column={index - 1}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted(ofState(columns, rows, state), order).map(row => (
              <Row
                key={row.thing}
                row={row}
                columns={columns}
                isOpen={String(opened.job?.number) === row.thing}
                onOpen={() => {
                  opened.toggle(row.thing);
                }}
              />
            ))}
          </tbody>
        </table>
      </div>
      {rows.length === 0 && (
        <p className="jp-AcaiLog-empty">{trans.__('No jobs found.')}</p>
      )}
      {isGiven(next) && (
        <p className="jp-AcaiLog-empty">
          {trans.__(
            "… and more: end the query with '%1' to see so many",
            LIMIT
          )}
        </p>
      )}
      <OpenedJob opened={opened} services={services} />
    </section>
  );
}

function QueryField(props: { model: JobsModel }): React.ReactElement {
  const { model } = props;
  const [text, setText] = React.useState(model.query);
  return (
    <div className="jp-AcaiJobs-query" role="search">
      <input
        type="search"
        className="jp-AcaiLog-search"
        aria-label={trans.__('Which jobs')}
        placeholder={trans.__('which jobs, like: %1', QUERY_EXAMPLE)}
        value={text}
        onChange={event => {
          setText(event.target.value);
        }}
        onKeyDown={event => {
          if (event.key === 'Enter') {
            event.preventDefault();
            void model.choose(text);
          }
        }}
      />
    </div>
  );
}

/** A heading that sorts. */
export function Heading(props: {
  name: string;
  column: number;
  isNumber: boolean;
  order: IOrder | null;
  onOrder: () => void;
}): React.ReactElement {
  const { name, column, isNumber, order, onOrder } = props;
  const direction = order?.column === column ? order.direction : 'none';
  const mark = { ascending: ' ↑', descending: ' ↓', none: '' }[direction];
  return (
    <th
      scope="col"
      aria-sort={direction}
      data-side={isNumber ? 'right' : 'left'}
    >
      <button type="button" className="jp-AcaiJobs-heading" onClick={onOrder}>
        {column < 0 ? trans.__('job') : oneLine(name)}
        <span aria-hidden="true">{mark}</span>
      </button>
    </th>
  );
}

function Row(props: {
  row: IFound;
  columns: readonly string[];
  isOpen: boolean;
  onOpen: () => void;
}): React.ReactElement {
  const { row, columns, isOpen, onOpen } = props;
  return (
    <tr data-acai-thing={row.thing}>
      <td data-side="right">
        <button
          type="button"
          className="jp-AcaiView-button"
          aria-label={trans.__('job %1', row.thing)}
          aria-expanded={isOpen}
          onClick={onOpen}
        >
          {oneLine(row.thing)}
        </button>
      </td>
      {columns.map((column, index) => (
        <Cell column={column} value={row.values[index]} key={column} />
      ))}
    </tr>
  );
}

/** What asks for more rows than are shown otherwise. */
const LIMIT = 'limit 1000';
/** Of more characters the end may be cut. */
const LONG = 40;

export function Cell(props: {
  column: string;
  value: Value | undefined;
}): React.ReactElement {
  const { column, value } = props;
  const words = formatValue(column, value);
  const isState = column === 'state';
  return (
    <td
      data-side={typeof value === 'number' ? 'right' : 'left'}
      title={words.length > LONG ? words : undefined}
    >
      {isState ? <span data-state={words}>{words}</span> : words}
    </td>
  );
}

export function isOfNumbers(rows: readonly IFound[], column: number): boolean {
  return (
    column < 0 ||
    (rows.length > 0 &&
      rows.every(
        ({ values }) =>
          values[column] === null || typeof values[column] === 'number'
      ))
  );
}
