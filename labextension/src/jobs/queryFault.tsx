import * as React from 'react';

import type { AcaiError } from '../core/errors';
import { markedBelow } from '../core/queryText';

/** What is wrong with a query, with a mark below the column that the error speaks of. */
export function QueryFault(props: {
  /** What describes the field: the sentence has this id. */
  id?: string;
  error: AcaiError;
  /** The query that was asked. */
  text: string;
}): React.ReactElement {
  const { id, error, text } = props;
  const { column } = error.details;
  return (
    <div className="jp-AcaiFilter-fault">
      {typeof column === 'number' && column >= 1 && (
        <pre aria-hidden="true">{markedBelow(text, column)}</pre>
      )}
      <p id={id} role="alert">
        {error.message.split('\n')[0]}
      </p>
    </div>
  );
}
