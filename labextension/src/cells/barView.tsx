import * as React from 'react';

import { asAcaiError } from '../core/connectionStore';
import type { JobModel } from '../core/jobModel';
import { standingOf } from '../core/overviewText';
import { toneOf } from '../core/tones';
import { Action, SureAction } from '../views/action';
import { useModel, useSeconds } from '../views/job/hooks';
import { LogPanel } from '../views/job/logPanel';
import type { ViewServices } from '../views/services';

/** The job of a cell in one line: its state, for how long, for how much; its end, and its log. */
export function BarView(props: {
  model: JobModel;
  project: string;
  services: ViewServices;
  /** Opens the job in a tab; null where nothing can, or it is a job of another project. */
  onOpen: (() => void) | null;
}): React.ReactElement {
  const { model, project, services, onOpen } = props;
  useModel(model);
  const now = useSeconds(services.ticker, model.isLive);
  const [showsLog, setShowsLog] = React.useState(false);
  const [error, setError] = React.useState('');
  const { job, isThere } = model;
  const name = `job ${job.number}`;
  const kill = () => {
    setError('');
    services.jobs.kill(project, job.number).then(
      killed => {
        model.accept(killed);
      },
      (reason: unknown) => {
        setError(asAcaiError(reason).message);
      }
    );
  };
  return (
    <section aria-label={`the cell's ${name}`}>
      <div className="jp-AcaiCellBar-line">
        <p className="jp-AcaiJob-line" data-tone={toneOf(job)}>
          <span>
            {isThere && onOpen !== null ? (
              <button
                type="button"
                className="jp-AcaiCellBar-name"
                aria-label={`${name} in a tab`}
                onClick={onOpen}
              >
                {name}
              </button>
            ) : (
              name
            )}
            {` · ${standingOf(job, now)}`}
            {!isThere && ' · as the notebook knew it'}
          </span>
        </p>
        {isThere && (
          <Action
            words="log"
            name={`log of the cell's ${name}`}
            isOpen={showsLog}
            onClick={() => {
              setShowsLog(!showsLog);
            }}
          />
        )}
        {model.isLive && (
          <SureAction
            words="kill"
            name={`kill the cell's ${name}`}
            sure={`yes, end ${name}`}
            not="let it run"
            onSure={kill}
          />
        )}
      </div>
      {error !== '' && (
        <p className="jp-AcaiView-error" role="alert">
          {error}
        </p>
      )}
      {showsLog && (
        <LogPanel model={model} project={project} services={services} />
      )}
    </section>
  );
}
