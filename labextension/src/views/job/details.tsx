import * as React from 'react';

import { formatSize } from '../../core/format';
import { factsOf } from '../../core/jobFacts';
import type { JobModel } from '../../core/jobModel';
import { currentAttempt } from '../../core/jobText';
import { oneLine } from '../../core/text';
import { trans } from '../../core/translation';
import { Sparkline } from './sparkline';
import { Stepper } from './stepper';

/** How a job goes or went: its states, what it used of what it asked for, what it cost, what it was given. */
export function Details(props: {
  model: JobModel;
  now: Date;
}): React.ReactElement {
  const { model, now } = props;
  const { job, samples } = model;
  const current = currentAttempt(job);
  return (
    <>
      <Stepper job={job} transfer={model.transfer} now={now} />
      {current !== undefined && samples.length > 1 && (
        <div className="jp-AcaiJob-meters">
          <Sparkline
            name={trans.__('CPU')}
            points={samples.map(one => [one[0], one[1]])}
            limit={current.vcpu}
            format={value => String(Math.round(value * 100) / 100)}
            asked={trans.__('%1 vCPU', Math.round(current.vcpu * 100) / 100)}
          />
          <Sparkline
            name={trans.__('memory')}
            points={samples.map(one => [one[0], one[2]])}
            limit={current.memory_bytes}
            format={formatSize}
          />
        </div>
      )}
      <dl className="jp-AcaiJob-facts">
        {factsOf(job, now).map(([term, said]) => (
          <React.Fragment key={term}>
            <dt>{term}</dt>
            <dd>{oneLine(said)}</dd>
          </React.Fragment>
        ))}
      </dl>
    </>
  );
}
