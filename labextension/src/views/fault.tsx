import * as React from 'react';

import { trans } from '../core/translation';
import { Action } from './action';

/** Why something could not be shown, and a way to ask again where that may help. */
export function Fault(props: {
  words: string;
  onAgain: (() => void) | null;
}): React.ReactElement | null {
  const { words, onAgain } = props;
  return words === '' ? null : (
    <div className="jp-AcaiView-fault">
      <p className="jp-AcaiView-error" role="alert" title={words}>
        {words}
      </p>
      {onAgain !== null && (
        <Action words={trans.__('Try again')} onClick={onAgain} />
      )}
    </div>
  );
}
