import * as React from 'react';

import { Action, SureAction } from '../action';

export interface IActionsProps {
  number: number;
  isLive: boolean;
  canAct: boolean;
  showsLog: boolean;
  showsDetails: boolean;
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
      aria-label={`job ${number}: actions`}
    >
      <Action
        words="log"
        of={number}
        isOpen={props.showsLog}
        onClick={props.onLog}
      />
      {props.onProvenance !== undefined && (
        <Action words="provenance" of={number} onClick={props.onProvenance} />
      )}
      {canAct && (
        <Action words="run again" of={number} onClick={props.onRunAgain} />
      )}
      <Action
        words="details"
        of={number}
        isOpen={props.showsDetails}
        onClick={props.onDetails}
      />
      {isLive && canAct && (
        <SureAction
          words="kill"
          of={number}
          sure={`yes, end job ${number}`}
          not="let it run"
          onSure={props.onKill}
        />
      )}
    </div>
  );
}
