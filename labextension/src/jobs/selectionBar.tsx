import * as React from 'react';

import { asAcaiError } from '../core/connectionStore';
import { killJobs, tagThings } from '../core/jobActions';
import type { ProjectClient } from '../core/projectClient';
import { trans } from '../core/translation';
import { Action } from '../views/action';
import { MetricCharts } from './metricCharts';
import { removeJobs } from './removing';
import { TagField } from './tagField';

export interface ISelectionBarProps {
  chosen: readonly string[];
  /** So many of the chosen are not among the jobs that are listed. */
  hidden: number;
  /** How many are listed; null while nobody knows. */
  listed: number | null;
  client: ProjectClient;
  onCompare: (before: number, after: number) => void;
  onAll: () => void;
  onClear: () => void;
  /** These are deleted. */
  onGone: (jobs: readonly string[]) => void;
}

type Doing = '' | 'kill' | 'tag' | 'delete';

/** What became of something: what was done, and why other things were not. */
interface ITold {
  done: string;
  kept?: readonly string[];
}

/** What can be done with the jobs that are chosen: compare two, see their metrics, tag, end or delete them. */
export function SelectionBar(props: ISelectionBarProps): React.ReactElement {
  const { chosen, hidden, client } = props;
  const [doing, setDoing] = React.useState<Doing>('');
  const [told, setTold] = React.useState('');
  const [failure, setFailure] = React.useState('');
  const [showsMetrics, setShowsMetrics] = React.useState(false);
  const [removed, setRemoved] = React.useState<readonly number[]>([]);
  const numbers = chosen.map(Number).sort((a, b) => a - b);
  const count = numbers.length;
  const attempt = async (act: () => Promise<ITold>): Promise<boolean> => {
    setFailure('');
    try {
      const { done, kept = [] } = await act();
      setTold(done);
      setFailure(kept.join(' · '));
      return true;
    } catch (error) {
      setFailure(asAcaiError(error).message);
      return false;
    }
  };
  const remove = async (): Promise<ITold> => {
    const { done, kept } = await removeJobs(client, numbers, false, step => {
      setTold(trans.__('%1 of %2 deleted', step, count));
    });
    setRemoved(done);
    props.onGone(done.map(String));
    return {
      done: trans._n('%1 deleted', '%1 deleted', done.length),
      kept
    };
  };
  const undo = async (): Promise<ITold> => {
    const { done, kept } = await removeJobs(client, removed, true, step => {
      setTold(trans.__('%1 of %2 brought back', step, removed.length));
    });
    setRemoved(removed.filter(one => !done.includes(one)));
    return {
      done: trans._n('%1 brought back', '%1 brought back', done.length),
      kept
    };
  };
  const kill = async (): Promise<ITold> => {
    const { asked, ended } = await killJobs(client, numbers);
    return {
      done: trans.__('%1 being ended, %2 had ended before', asked, ended)
    };
  };
  const choose = (next: Doing) => {
    setDoing(next);
    setFailure('');
  };
  const isAsked = count > 0 && doing !== '';
  return (
    <div
      className="jp-AcaiChosen"
      role="group"
      aria-label={trans.__('chosen jobs')}
      data-lm-suppress-shortcuts="true"
    >
      <span role="status">
        {[...saidOf(count, hidden), told]
          .filter(part => part !== '')
          .join(' · ')}
      </span>
      {!isAsked && (
        <Actions
          {...props}
          numbers={numbers}
          showsMetrics={showsMetrics}
          onMetrics={() => {
            setShowsMetrics(!showsMetrics);
          }}
          onDo={choose}
        />
      )}
      {isAsked && doing === 'delete' && (
        <Sure
          words={trans._n('yes, delete %1 job', 'yes, delete %1 jobs', count)}
          not={trans.__('keep them')}
          onSure={() => void attempt(remove)}
          onEnd={choose}
        />
      )}
      {isAsked && doing === 'kill' && (
        <Sure
          words={trans._n('yes, end %1 job', 'yes, end %1 jobs', count)}
          not={trans.__('let them run')}
          onSure={() => void attempt(kill)}
          onEnd={choose}
        />
      )}
      {isAsked && doing === 'tag' && (
        <TagField
          label={trans._n(
            'What to change on %1 job',
            'What to change on %1 jobs',
            count
          )}
          onCancel={() => {
            choose('');
          }}
          onChange={async change => {
            const isDone = await attempt(async () => {
              const things = await tagThings(client, chosen, change);
              return { done: trans._n('%1 changed', '%1 changed', things) };
            });
            if (isDone) {
              setDoing('');
            }
          }}
        />
      )}
      {removed.length > 0 && !isAsked && (
        <Action words={trans.__('undo')} onClick={() => void attempt(undo)} />
      )}
      {failure !== '' && (
        <span className="jp-AcaiView-error" role="alert">
          {failure}
        </span>
      )}
      {showsMetrics && count > 1 && (
        <MetricCharts numbers={numbers} client={client} />
      )}
    </div>
  );
}

function saidOf(count: number, hidden: number): string[] {
  return [
    count > 0
      ? trans._n(
          '%2 job chosen',
          '%2 jobs chosen',
          count,
          count.toLocaleString('en-US')
        )
      : '',
    hidden > 0
      ? trans._n(
          '%2 of them is not in the list',
          '%2 of them are not in the list',
          hidden,
          hidden.toLocaleString('en-US')
        )
      : ''
  ];
}

function Actions(
  props: Pick<
    ISelectionBarProps,
    'listed' | 'hidden' | 'onCompare' | 'onAll' | 'onClear'
  > & {
    numbers: readonly number[];
    showsMetrics: boolean;
    onMetrics: () => void;
    onDo: (doing: Doing) => void;
  }
): React.ReactElement {
  const { numbers, listed, hidden, onCompare, onDo } = props;
  const [before, after] = numbers;
  const count = numbers.length;
  const isAll = listed === null || count - hidden >= listed;
  return (
    <>
      {count === 2 && before !== undefined && after !== undefined && (
        <Action
          words={trans.__('compare')}
          onClick={() => {
            onCompare(before, after);
          }}
        />
      )}
      {count > 0 && (
        <>
          <Action
            words={trans.__('tag')}
            onClick={() => {
              onDo('tag');
            }}
          />
          <Action
            words={trans.__('kill')}
            onClick={() => {
              onDo('kill');
            }}
          />
          <Action
            words={trans.__('clean up')}
            onClick={() => {
              onDo('delete');
            }}
          />
        </>
      )}
      {count > 1 && (
        <Action
          words={trans.__('metrics')}
          isOpen={props.showsMetrics}
          onClick={props.onMetrics}
        />
      )}
      {!isAll && (
        <Action
          words={trans._n(
            'choose the one listed',
            'choose all %2 listed',
            listed,
            listed.toLocaleString('en-US')
          )}
          onClick={props.onAll}
        />
      )}
      {count > 0 && (
        <Action words={trans.__('choose none')} onClick={props.onClear} />
      )}
    </>
  );
}

/** What is asked twice. */
function Sure(props: {
  words: string;
  not: string;
  onSure: () => void;
  onEnd: (doing: Doing) => void;
}): React.ReactElement {
  const { words, not, onSure, onEnd } = props;
  return (
    <>
      <Action
        words={words}
        isLoud
        onClick={() => {
          onEnd('');
          onSure();
        }}
      />
      <Action
        words={not}
        onClick={() => {
          onEnd('');
        }}
      />
    </>
  );
}
