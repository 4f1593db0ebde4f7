import * as React from 'react';

import type { ConnectionState } from '../core/connectionStore';
import { trans } from '../core/translation';
import { Facts } from './facts';

/** The facts of a connection, or that there is none; knows nothing of JupyterLab. */
export function AboutView(props: {
  state: ConnectionState;
  pageVersion: string;
  now: Date;
}): React.ReactElement {
  const { state, pageVersion, now } = props;
  return state.kind === 'connected' ? (
    <Facts {...state} pageVersion={pageVersion} now={now} />
  ) : (
    <p className="jp-AcaiPanel-none">{trans.__('There is no connection.')}</p>
  );
}
