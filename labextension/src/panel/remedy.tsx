import * as React from 'react';

import { trans } from '../core/translation';

export interface IRemedyProps {
  commands: readonly string[];
  busy: boolean;
  onRetry: () => void;
}

/** What to do when there is no connection. */
export function Remedy(props: IRemedyProps): React.ReactElement {
  const { commands, busy, onRetry } = props;
  return (
    <div className="jp-AcaiPanel-remedy">
      {commands.length > 0 && <Commands lines={commands} />}
      {/* Not `disabled`, which would take the keyboard's focus away. */}
      <button
        type="button"
        className="jp-AcaiPanel-button jp-mod-styled jp-mod-accept"
        aria-disabled={busy}
        onClick={busy ? undefined : onRetry}
      >
        {busy ? trans.__('Trying again…') : trans.__('Try again')}
      </button>
    </div>
  );
}

/** Lines to type in a terminal. */
export function Commands(props: {
  lines: readonly string[];
}): React.ReactElement {
  return (
    <pre className="jp-AcaiPanel-commands">
      {props.lines.map(line => (
        <code key={line}>{`${line}\n`}</code>
      ))}
    </pre>
  );
}
