import * as React from 'react';

import { trans } from '../../core/translation';
import { Action, SureAction } from '../action';

export interface IActionsProps {
  number: number;
  isLive: boolean;
  canAct: boolean;
  showsLog: boolean;
  showsDetails: boolean;
  /** The job is being submitted once more. */
  isRunAgain: boolean;
  onLog: () => void;
  onDetails: () => void;
  onKill: () => void;
  onRunAgain: () => void;
  onProvenance?: () => void;
}

/** What can be done with a job. Ending it is asked twice. */
export function Actions(props: IActionsProps): React.ReactElement {
  const { number, isLive, canAct } = props;
  return (
    <div
      className="jp-AcaiJob-actions"
      role="group"
      aria-label={trans.__('job %1: actions', number)}
    >
      <Action
        words={trans.__('log')}
        of={number}
        isOpen={props.showsLog}
        onClick={props.onLog}
      />
      {props.onProvenance !== undefined && (
        <Action
          words={trans.__('provenance')}
          of={number}
          onClick={props.onProvenance}
        />
      )}
      {canAct && (
        <Action
          words={trans.__('run again')}
          of={number}
          isBusy={props.isRunAgain}
          onClick={props.onRunAgain}
        />
      )}
      <Action
        words={trans.__('details')}
        of={number}
        isOpen={props.showsDetails}
        onClick={props.onDetails}
      />
      {isLive && canAct && (
        <SureAction
          words={trans.__('kill')}
          of={number}
          sure={trans.__('yes, end job %1', number)}
          not={trans.__('let it run')}
          onSure={props.onKill}
        />
      )}
    </div>
  );
}
