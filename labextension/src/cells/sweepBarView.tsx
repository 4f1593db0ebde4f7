import * as React from 'react';

import { asAcaiError } from '../core/connectionStore';
import { standingOfSweep } from '../core/sweepTable';
import { oneLine } from '../core/text';
import { toneOfMany } from '../core/tones';
import { trans } from '../core/translation';
import { SureAction } from '../views/action';
import type { SweepModel } from '../views/sweep/model';
import { BarName } from './barName';
import { useFocusKept } from './focusKept';

/** The sweep of a cell in one line: how many of its jobs are in which state, for how much; and the end of all. */
export function SweepBarView(props: {
  model: SweepModel;
  project: string;
  count: number;
  onKill: () => Promise<unknown>;
  /** Opens the table with its jobs; null where nothing can. */
  onOpen: (() => void) | null;
}): React.ReactElement {
  const { model, project, count, onKill, onOpen } = props;
  const [, again] = React.useReducer((turn: number) => turn + 1, 0);
  React.useEffect(() => model.subscribe(again), [model]);
  const [refusal, setRefusal] = React.useState('');
  const { table, isLive, isOther } = model;
  const tag = oneLine(table.tag);
  const many = Math.max(count, table.rows.length);
  const error = refusal || (model.error?.message ?? '');
  const { place, pressed } = useFocusKept<HTMLElement>(isLive);
  const kill = () => {
    pressed();
    setRefusal('');
    onKill().catch((reason: unknown) => {
      setRefusal(asAcaiError(reason).message);
    });
  };
  return (
    <section
      aria-label={trans.__("the cell's %1", tag)}
      data-acai-thing={isOther ? undefined : table.rows[0]?.job} // all of them come from the same
      data-acai-project={project}
    >
      <div className="jp-AcaiCellBar-line">
        <p
          className="jp-AcaiJob-line"
          data-tone={toneOfMany(table.rows.map(row => row.state))}
        >
          <span>
            <BarName
              ref={place}
              words={tag}
              name={trans.__('%1 in the table of jobs', tag)}
              onOpen={isOther ? null : onOpen}
            />
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
