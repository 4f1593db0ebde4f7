import * as React from 'react';

import type { IFound } from '../../contract';
import { trans } from '../../core/translation';

/** The states that jobs are in, with how many are in each; empty where that was not asked for. */
export function statesOf(
  columns: readonly string[],
  rows: readonly IFound[]
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const row of rows) {
    const state = stateOf(columns, row);
    if (state !== null) {
      found.set(state, (found.get(state) ?? 0) + 1);
    }
  }
  return found;
}

/** The jobs in a state; with null, all. */
export function ofState(
  columns: readonly string[],
  rows: readonly IFound[],
  state: string | null
): readonly IFound[] {
  return state === null
    ? rows
    : rows.filter(row => stateOf(columns, row) === state);
}

function stateOf(columns: readonly string[], row: IFound): string | null {
  const value = row.values[columns.indexOf('state')];
  return typeof value === 'string' ? value : null;
}

/** How many jobs are in which state; a click shows only those, another one all. Nothing where all are in the same. */
export function StateFilter(props: {
  states: ReadonlyMap<string, number>;
  chosen: string | null;
  onChoose: (state: string | null) => void;
}): React.ReactElement | null {
  const { states, chosen, onChoose } = props;
  if (states.size < 2 && chosen === null) {
    return null;
  }
  return (
    <div
      className="jp-AcaiJobs-states"
      role="group"
      aria-label={trans.__('Only those that are')}
    >
      {[...states].map(([state, count]) => (
        <button
          key={state}
          type="button"
          className="jp-AcaiView-button"
          aria-pressed={state === chosen}
          onClick={() => {
            onChoose(state === chosen ? null : state);
          }}
        >
          <span data-state={state}>{`${count} ${state}`}</span>
        </button>
      ))}
    </div>
  );
}
