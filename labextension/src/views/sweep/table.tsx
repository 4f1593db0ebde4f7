import * as React from 'react';

import type { IFound } from '../../contract';
import {
  bestOf,
  describeBest,
  describeSweep,
  firstMetric,
  isBetterLow,
  metricsOf,
  pageOf
} from '../../core/sweepTable';
import { oneLine } from '../../core/text';
import { trans } from '../../core/translation';
import { type IOrder, nextOrder, sorted } from '../jobs/order';
import { Cell, Heading, isOfNumbers } from '../jobs/table';
import { OpenedJob, useOpened } from '../jobs/opened';
import { asAcaiError } from '../../core/connectionStore';
import { SureAction } from '../action';
import type { ViewServices } from '../services';
import type { SweepModel } from './model';

export interface ISweepTableProps {
  model: SweepModel;
  project: string;
  count: number;
  services: ViewServices;
}

/** By what the best is marked. */
interface IChoice {
  metric: string;
  isLow: boolean;
}

/** A sweep: how its jobs stand in a line, and each in a row. The best by a metric is marked; a number opens the job. */
export function SweepTable(props: ISweepTableProps): React.ReactElement {
  const { model, project, services } = props;
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => model.subscribe(again), [model]);
  const [chosen, setChosen] = React.useState<IChoice | null>(null);
  const [order, setOrder] = React.useState<IOrder | null>(null);
  const [failure, setFailure] = React.useState('');
  const opened = useOpened(services, project);
  const { table, error, isOther } = model;
  const { columns, rows } = pageOf(table);
  const count = Math.max(props.count, rows.length);
  const by = chosen ?? choiceOf(firstMetric(table));
  const best = by === null ? null : bestOf(table, by.metric, by.isLow);
  return (
    <section aria-label={table.tag} data-acai-project={project}>
      <p className="jp-AcaiSweep-line" role="status">
        {oneLine(describeSweep(table, count))}
      </p>
      {error !== null && (
        <p className="jp-AcaiView-error" role="alert">
          {error.message}
        </p>
      )}
      {isOther && (
        <p className="jp-AcaiView-note">
          {trans.__(
            "The project of this page has other jobs of %1. This is how the notebook's own ones stood.",
            oneLine(table.tag)
          )}
        </p>
      )}
      {by !== null && (
        <BestBy
          metrics={metricsOf(table)}
          choice={by}
          words={best === null ? '' : describeBest(best, by.metric)}
          onChoose={setChosen}
        />
      )}
      <div className="jp-AcaiJobs-scroll">
        <table className="jp-AcaiJobs-table">
          <thead>
            <tr>
              {['job', ...columns].map((name, index) => (
                <Heading
                  key={name}
                  name={name}
                  column={index - 1}
                  isNumber={isOfNumbers(rows, index - 1)}
                  order={order}
                  onOrder={() => {
                    setOrder(nextOrder(order, index - 1));
                  }}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted(rows, order).map(row => (
              <Row
                key={row.thing}
                row={row}
                columns={columns}
                best={String(best?.job) === row.thing ? by : null}
                isOpen={String(opened.job?.number) === row.thing}
                onOpen={() => {
                  opened.toggle(row.thing);
                }}
              />
            ))}
          </tbody>
        </table>
      </div>
      {count > rows.length && (
        <p className="jp-AcaiLog-empty">
          {trans.__('… %1 more', count - rows.length)}
        </p>
      )}
      {model.isLive && (
        <div className="jp-AcaiJob-actions">
          <SureAction
            words={trans.__('kill all')}
            sure={trans.__('yes, end all jobs of %1', oneLine(table.tag))}
            not={trans.__('let them run')}
            onSure={() => {
              setFailure('');
              services.jobs
                .killSweep(project, table.tag)
                .catch((error: unknown) => {
                  setFailure(asAcaiError(error).message);
                });
            }}
          />
        </div>
      )}
      {failure !== '' && (
        <p className="jp-AcaiView-error" role="alert">
          {failure}
        </p>
      )}
      <OpenedJob opened={opened} services={services} />
    </section>
  );
}

function BestBy(props: {
  metrics: readonly string[];
  choice: IChoice;
  words: string;
  onChoose: (choice: IChoice) => void;
}): React.ReactElement {
  const { metrics, choice, words, onChoose } = props;
  return (
    <div className="jp-AcaiSweep-best">
      <span aria-hidden="true">{trans.__('compare by')}</span>
      <select
        className="jp-AcaiView-select"
        aria-label={trans.__('Compare by')}
        value={choice.metric}
        onChange={event => {
          onChoose(choiceOf(event.target.value));
        }}
      >
        {metrics.map(name => (
          <option key={name} value={name}>
            {oneLine(name)}
          </option>
        ))}
      </select>
      <button
        type="button"
        className="jp-AcaiView-button"
        onClick={() => {
          onChoose({ ...choice, isLow: !choice.isLow });
        }}
      >
        {choice.isLow
          ? trans.__('lowest is best')
          : trans.__('highest is best')}
      </button>
      <span role="status">{oneLine(words)}</span>
    </div>
  );
}

function Row(props: {
  row: IFound;
  columns: readonly string[];
  best: IChoice | null;
  isOpen: boolean;
  onOpen: () => void;
}): React.ReactElement {
  const { row, columns, best, isOpen, onOpen } = props;
  return (
    <tr data-best={best === null ? undefined : ''} data-acai-thing={row.thing}>
      <td data-side="right">
        <button
          type="button"
          className="jp-AcaiView-button"
          aria-label={
            best === null
              ? trans.__('job %1', row.thing)
              : trans.__('job %1, best by %2', row.thing, best.metric)
          }
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

function choiceOf(metric: string): IChoice;
function choiceOf(metric: string | null): IChoice | null;
function choiceOf(metric: string | null): IChoice | null {
  return metric === null ? null : { metric, isLow: isBetterLow(metric) };
}
