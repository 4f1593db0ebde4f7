import * as React from 'react';

import type { ConnectionState } from '../core/connectionStore';
import { compareVersions } from '../core/versions';
import { Notices } from './notices';
import { Remedy } from './remedy';
import { describeState } from './stateLine';

export interface IPanelViewProps {
  state: ConnectionState;
  pageVersion: string;
  onRetry: () => void;
}

/** The head of the panel for a state of the connection; knows nothing of JupyterLab. */
export function PanelView(props: IPanelViewProps): React.ReactElement {
  const { tone, sentence } = describeState(props.state);
  return (
    <>
      <h2 className="jp-AcaiPanel-title">ACAI</h2>
      {/* One element for all states, else a screen reader does not read the change. */}
      <p className="jp-AcaiPanel-state" role="status" data-tone={tone}>
        {sentence}
      </p>
      <Below {...props} />
    </>
  );
}

function Below(props: IPanelViewProps): React.ReactElement | null {
  const { state, pageVersion, onRetry } = props;
  if (state.kind === 'connected') {
    return (
      <>
        {(state.stream === 'reconnecting' || state.stream === 'polling') && (
          <Remedy commands={[]} busy={false} onRetry={onRetry} />
        )}
        <Notices
          version={compareVersions(state.status.version, pageVersion)}
          sentences={state.status.notices ?? []}
        />
      </>
    );
  }
  if (state.kind === 'idle' || state.error === null) {
    return null;
  }
  return (
    <Remedy
      commands={state.error.commands}
      busy={state.kind === 'loading'}
      onRetry={onRetry}
    />
  );
}
