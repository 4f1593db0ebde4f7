import * as React from 'react';

import { asAcaiError } from '../core/connectionStore';
import type { JobModel } from '../core/jobModel';
import { standingOf } from '../core/overviewText';
import { toneOf } from '../core/tones';
import { trans } from '../core/translation';
import { Action, SureAction } from '../views/action';
import { useModel, useSeconds } from '../views/job/hooks';
import { LogPanel } from '../views/job/logPanel';
import type { ViewServices } from '../views/services';
import { BarName } from './barName';
import { useFocusKept } from './focusKept';

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
  const { number } = job;
  const { place, pressed } = useFocusKept<HTMLElement>(model.isLive);
  const kill = () => {
    pressed();
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
    <section
      aria-label={trans.__("the cell's job %1", number)}
      data-acai-thing={isThere ? number : undefined}
      data-acai-project={project}
    >
      <div className="jp-AcaiCellBar-line">
        <p className="jp-AcaiJob-line" data-tone={toneOf(job)}>
          <span>
            <BarName
              ref={place}
              words={trans.__('job %1', number)}
              name={trans.__('job %1 in a tab', number)}
              onOpen={isThere ? onOpen : null}
            />
            {` · ${standingOf(job, now)}`}
            {!isThere && ` · ${trans.__('as the notebook knew it')}`}
          </span>
        </p>
        {isThere && (
          <Action
            words={trans.__('log')}
            name={trans.__("log of the cell's job %1", number)}
            isOpen={showsLog}
            onClick={() => {
              setShowsLog(!showsLog);
            }}
          />
        )}
        {model.isLive && (
          <SureAction
            words={trans.__('kill')}
            name={trans.__("kill the cell's job %1", number)}
            sure={trans.__('yes, end job %1', number)}
            not={trans.__('let it run')}
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
