import * as React from 'react';

import { asAcaiError } from '../core/connectionStore';
import type { ProjectClient } from '../core/projectClient';
import { readTagLine } from '../core/tagLine';
import { trans } from '../core/translation';
import { MetricCharts } from './metricCharts';
import { removeJobs } from './removing';

export interface ISelectionBarProps {
  chosen: readonly string[];
  client: ProjectClient;
  onCompare: (before: number, after: number) => void;
  onClear: () => void;
}

/** What can be done with the jobs that are chosen: compare two, see their metrics, tag, end or delete them. */
export function SelectionBar(props: ISelectionBarProps): React.ReactElement {
  const { chosen, client, onCompare, onClear } = props;
  const [doing, setDoing] = React.useState<'' | 'kill' | 'tag' | 'delete'>('');
  const [told, setTold] = React.useState('');
  const [failure, setFailure] = React.useState('');
  const [showsMetrics, setShowsMetrics] = React.useState(false);
  const [removed, setRemoved] = React.useState<readonly number[]>([]);
  const numbers = chosen.map(Number).sort((a, b) => a - b);
  const count = numbers.length;
  const attempt = async (act: () => Promise<string>) => {
    setDoing('');
    setFailure('');
    try {
      setTold(await act());
    } catch (error) {
      setFailure(asAcaiError(error).message);
    }
  };
  const [before, after] = numbers;
  return (
    <div
      className="jp-AcaiChosen"
      role="group"
      aria-label={trans.__('chosen jobs')}
      data-lm-suppress-shortcuts="true"
    >
      <span role="status">
        {[
          count > 0 ? trans._n('%1 job chosen', '%1 jobs chosen', count) : '',
          told
        ]
          .filter(part => part !== '')
          .join(' · ')}
      </span>
      {numbers.length === 2 && before !== undefined && after !== undefined && (
        <Action
          words={trans.__('compare')}
          onClick={() => {
            onCompare(before, after);
          }}
        />
      )}
      {numbers.length > 0 && doing === '' && (
        <>
          <Action
            words={trans.__('tag')}
            onClick={() => {
              setDoing('tag');
            }}
          />
          <Action
            words={trans.__('kill')}
            onClick={() => {
              setDoing('kill');
            }}
          />
          <Action
            words={trans.__('clean up')}
            onClick={() => {
              setDoing('delete');
            }}
          />
          {count > 1 && (
            <Action
              words={trans.__('metrics')}
              isOpen={showsMetrics}
              onClick={() => {
                setShowsMetrics(!showsMetrics);
              }}
            />
          )}
          <Action words={trans.__('choose none')} onClick={onClear} />
        </>
      )}
      {numbers.length > 0 && doing === 'delete' && (
        <>
          <Action
            words={trans._n('yes, delete %1 job', 'yes, delete %1 jobs', count)}
            isLoud
            onClick={() =>
              void attempt(async () => {
                const { done, kept } = await removeJobs(client, numbers, false);
                setRemoved(done);
                onClear();
                return [
                  trans._n('%1 deleted', '%1 deleted', done.length),
                  ...kept
                ].join(' · ');
              })
            }
          />
          <Action
            words={trans.__('keep them')}
            onClick={() => {
              setDoing('');
            }}
          />
        </>
      )}
      {removed.length > 0 && doing === '' && (
        <Action
          words={trans.__('undo')}
          onClick={() =>
            void attempt(async () => {
              const { done, kept } = await removeJobs(client, removed, true);
              setRemoved([]);
              return [
                trans._n('%1 brought back', '%1 brought back', done.length),
                ...kept
              ].join(' · ');
            })
          }
        />
      )}
      {numbers.length > 0 && doing === 'kill' && (
        <>
          <Action
            words={trans._n('yes, end %1 job', 'yes, end %1 jobs', count)}
            isLoud
            onClick={() =>
              void attempt(async () => {
                const { asked, ended } = await client.kill({ jobs: numbers });
                return trans.__(
                  '%1 being ended, %2 had ended before',
                  asked.length,
                  ended.length
                );
              })
            }
          />
          <Action
            words={trans.__('let them run')}
            onClick={() => {
              setDoing('');
            }}
          />
        </>
      )}
      {numbers.length > 0 && doing === 'tag' && (
        <TagField
          label={trans._n(
            'What to change on %1 job',
            'What to change on %1 jobs',
            count
          )}
          onCancel={() => {
            setDoing('');
          }}
          onChange={change =>
            void attempt(async () => {
              const changes = chosen.map(thing => ({ thing, ...change }));
              const { things } = await client.tag({ changes });
              return trans._n('%1 changed', '%1 changed', things.length);
            })
          }
        />
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

/** One line as `acai tag` takes it; Enter does it, Escape does not. */
function TagField(props: {
  label: string;
  onChange: (change: ReturnType<typeof readTagLine>['change']) => void;
  onCancel: () => void;
}): React.ReactElement {
  const { label, onChange, onCancel } = props;
  const [line, setLine] = React.useState('');
  const [fault, setFault] = React.useState('');
  const field = React.useRef<HTMLInputElement>(null);
  React.useEffect(() => {
    field.current?.focus();
  }, []);
  return (
    <>
      <input
        ref={field}
        className="jp-AcaiFilter-field"
        aria-label={label}
        aria-invalid={fault !== ''}
        // eslint-disable-next-line acai/untranslated -- as it is typed
        placeholder="stage=candidate +reviewed -old"
        value={line}
        onChange={event => {
          setLine(event.target.value);
        }}
        onKeyDown={event => {
          if (event.key === 'Enter') {
            const read = readTagLine(line);
            setFault(read.fault);
            if (read.fault === '') {
              onChange(read.change);
            }
          } else if (event.key === 'Escape') {
            event.stopPropagation();
            onCancel();
          }
        }}
      />
      {fault !== '' && (
        <span className="jp-AcaiView-error" role="alert">
          {fault}
        </span>
      )}
    </>
  );
}

function Action(props: {
  words: string;
  isLoud?: boolean;
  isOpen?: boolean;
  onClick: () => void;
}): React.ReactElement {
  return (
    <button
      type="button"
      className="jp-AcaiView-button"
      data-loud={props.isLoud === true ? '' : undefined}
      aria-expanded={props.isOpen}
      onClick={props.onClick}
    >
      {props.words}
    </button>
  );
}
