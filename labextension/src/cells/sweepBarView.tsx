import * as React from 'react';

import { asAcaiError } from '../core/connectionStore';
import { standingOfSweep } from '../core/sweepTable';
import { oneLine } from '../core/text';
import { toneOfMany } from '../core/tones';
import { trans } from '../core/translation';
import { SureAction } from '../views/action';
import type { SweepModel } from '../views/sweep/model';

/** The sweep of a cell in one line: how many of its jobs are in which state, for how much; and the end of all. */
export function SweepBarView(props: {
  model: SweepModel;
  count: number;
  onKill: () => Promise<unknown>;
  /** Opens the table with its jobs; null where nothing can. */
  onOpen: (() => void) | null;
}): React.ReactElement {
  const { model, count, onKill, onOpen } = props;
  const [, again] = React.useReducer((turn: number) => turn + 1, 0);
  React.useEffect(() => model.subscribe(again), [model]);
  const [refusal, setRefusal] = React.useState('');
  const { table, isLive, isOther } = model;
  const tag = oneLine(table.tag);
  const many = Math.max(count, table.rows.length);
  const error = refusal || (model.error?.message ?? '');
  const kill = () => {
    setRefusal('');
    onKill().catch((reason: unknown) => {
      setRefusal(asAcaiError(reason).message);
    });
  };
  return (
    <section aria-label={trans.__("the cell's %1", tag)}>
      <div className="jp-AcaiCellBar-line">
        <p
          className="jp-AcaiJob-line"
          data-tone={toneOfMany(table.rows.map(row => row.state))}
        >
          <span>
            {onOpen !== null && !isOther ? (
              <button
                type="button"
                className="jp-AcaiCellBar-name"
                aria-label={trans.__('%1 in the table of jobs', tag)}
                onClick={onOpen}
              >
                {tag}
              </button>
            ) : (
              tag
            )}
            {` · ${oneLine(standingOfSweep(table, many))}`}
            {isOther && ` · ${trans.__('as the notebook knew it')}`}
          </span>
        </p>
        {isLive && (
          <SureAction
            words={trans.__('kill all')}
            name={trans.__("kill all jobs of the cell's %1", tag)}
            sure={trans.__('yes, end all jobs of %1', tag)}
            not={trans.__('let them run')}
            onSure={kill}
          />
        )}
      </div>
      {error !== '' && (
        <p className="jp-AcaiView-error" role="alert">
          {error}
        </p>
      )}
    </section>
  );
}
