import * as React from 'react';

import type { ConnectionState } from '../core/connectionStore';
import { trans } from '../core/translation';
import { compareVersions } from '../core/versions';
import { Notices } from './notices';
import { Remedy } from './remedy';
import { describeState } from './stateLine';

export interface IPanelViewProps {
  state: ConnectionState;
  /** The project that was chosen last and is not there any more. */
  missing?: string;
  pageVersion: string;
  /** The projects are to be shown, below what was pressed. */
  onProjects: (below: HTMLElement) => void;
  onRetry: () => void;
}

/** The head of the panel for a state of the connection; knows nothing of JupyterLab. */
export function PanelView(props: IPanelViewProps): React.ReactElement {
  const { state, onProjects } = props;
  const { tone, sentence } = describeState(state);
  return (
    <>
      <div className="jp-AcaiPanel-head">
        <h2 className="jp-AcaiPanel-title">{trans.__('ACAI')}</h2>
        {state.kind === 'connected' && (
          <button
            type="button"
            className="jp-AcaiPanel-project"
            aria-haspopup="menu"
            title={trans.__('Show another project')}
            onClick={event => {
              onProjects(event.currentTarget);
            }}
          >
            <span>{trans.__('Project')}</span>{' '}
            <strong>{state.status.project}</strong>
          </button>
        )}
      </div>
      {/* One element for all states, else a screen reader does not read the change. */}
      <p className="jp-AcaiPanel-state" role="status" data-tone={tone}>
        {sentence}
      </p>
      <Below {...props} />
    </>
  );
}

function Below(props: IPanelViewProps): React.ReactElement | null {
  const { state, missing = '', pageVersion, onRetry } = props;
  if (state.kind === 'connected') {
    const gone =
      missing === ''
        ? []
        : [
            trans.__(
              "There is no project '%1' for you any more, so '%2' is shown.",
              missing,
              state.status.project
            )
          ];
    return (
      <>
        {(state.stream === 'reconnecting' || state.stream === 'polling') && (
          <Remedy commands={[]} busy={false} onRetry={onRetry} />
        )}
        <Notices
          version={compareVersions(state.status.version, pageVersion)}
          sentences={[...gone, ...(state.status.notices ?? [])]}
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
