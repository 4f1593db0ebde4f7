import * as React from 'react';

import type { IJob } from '../../contract';
import { asAcaiError } from '../../core/connectionStore';
import { formatSize } from '../../core/format';
import { isGiven } from '../../core/given';
import type { JobModel } from '../../core/jobModel';
import { hasEnded } from '../../core/jobText';
import { LogTail, MOST_LINES } from '../../core/logTail';
import { trans } from '../../core/translation';
import { LogSearch } from '../../core/logSearch';
import type { ViewServices } from '../services';
import { findLines, LogLines } from './logLines';
import { LogTools } from './logTools';

export interface ILogPanelProps {
  model: JobModel;
  project: string;
  services: ViewServices;
}

/** Which attempt's log is read, and how long it is as far as that is known. */
interface ILogSource {
  number: number;
  attempt: number;
  size: number;
}

/** A job's log; that of one which did not run is the log of the job whose result it was given. */
export function LogPanel(props: ILogPanelProps): React.ReactElement {
  const { job, logBytes } = props.model;
  return (
    <div className="jp-AcaiLog" data-lm-suppress-shortcuts="true">
      {isGiven(job.answered_by) ? (
        <AnsweringLog {...props} number={job.answered_by} />
      ) : (
        <LogOfJob {...props} job={job} logBytes={logBytes} />
      )}
    </div>
  );
}

function AnsweringLog(
  props: ILogPanelProps & { number: number }
): React.ReactElement {
  const { model, project, services, number } = props;
  const [found, setFound] = React.useState<IJob | null>(null);
  const [failure, setFailure] = React.useState('');
  React.useEffect(() => {
    services.jobs.job(project, number).then(setFound, (error: unknown) => {
      setFailure(asAcaiError(error).message);
    });
  }, [services, project, number]);
  return (
    <>
      <p className="jp-AcaiLog-empty">
        {trans.__(
          'job %1 did not run: it was answered by job %2, whose log this is.',
          model.job.number,
          number
        )}
      </p>
      {failure !== '' && (
        <p className="jp-AcaiView-error" role="alert">
          {failure}
        </p>
      )}
      {found !== null && (
        <LogOfJob
          project={project}
          services={services}
          job={found}
          logBytes={found.attempts.at(-1)?.log_bytes ?? 0}
        />
      )}
    </>
  );
}

/** The log of one of a job's attempts, or a sentence that says why there is none. */
function LogOfJob(props: {
  job: IJob;
  logBytes: number;
  project: string;
  services: ViewServices;
}): React.ReactElement {
  const { job, logBytes, project, services } = props;
  const [chosen, setChosen] = React.useState<number | null>(null);
  const source = sourceOf(job, logBytes, chosen);
  if (source === null) {
    return (
      <p className="jp-AcaiLog-empty">
        {hasEnded(job)
          ? trans.__('job %1 has no log: it never began.', job.number)
          : trans.__('job %1 has no log yet: it has not begun.', job.number)}
      </p>
    );
  }
  return (
    <LogView
      key={`${source.number}/${source.attempt}`}
      project={project}
      source={source}
      stage={job.state}
      services={services}
    >
      {job.attempts.length > 1 && (
        <select
          className="jp-AcaiView-select"
          aria-label={trans.__('Attempt of job %1', job.number)}
          value={source.attempt}
          onChange={event => {
            setChosen(Number(event.target.value));
          }}
        >
          {job.attempts.map(({ number }) => (
            <option key={number} value={number}>
              {trans.__('attempt %1', number)}
            </option>
          ))}
        </select>
      )}
    </LogView>
  );
}

/** Unless somebody has chosen, it is the last attempt: with the next one it moves on. */
function sourceOf(
  job: IJob,
  logBytes: number,
  chosen: number | null
): ILogSource | null {
  const last = job.attempts.at(-1);
  const found = job.attempts.find(one => one.number === chosen) ?? last;
  if (found === undefined) {
    return null;
  }
  const size = found === last ? logBytes : (found.log_bytes ?? 0);
  return { number: job.number, attempt: found.number, size };
}

interface ILogViewProps {
  project: string;
  source: ILogSource;
  /** When it changes there may be more, though the size is as before. */
  stage: string;
  services: ViewServices;
  children?: React.ReactNode;
}

/** The end of a log as a terminal shows it, growing while it is written, and a search in all of it. */
function LogView(props: ILogViewProps): React.ReactElement {
  const { source, children } = props;
  const tail = useTail(props);
  const [wanted, setWanted] = React.useState('');
  const [wraps, setWraps] = React.useState(true);
  const search = useSearch(props, tail.isWhole ? '' : wanted);
  const found = search.lines ?? findLines(tail.lines, wanted);
  const error = tail.error ?? search.error;
  return (
    <>
      <div className="jp-AcaiLog-bar">
        <input
          type="search"
          className="jp-AcaiLog-search"
          aria-label={trans.__('Search in the log of job %1', source.number)}
          placeholder={trans.__('search')}
          value={wanted}
          onChange={event => {
            setWanted(event.target.value);
          }}
        />
        {children}
        <LogTools
          job={source.number}
          attempt={source.attempt}
          wraps={wraps}
          onWrap={setWraps}
          read={() =>
            props.services.jobs.wholeLog(
              props.project,
              source.number,
              source.attempt
            )
          }
        />
        <span className="jp-AcaiLog-count" role="status">
          {wanted === ''
            ? ''
            : search.isAsking
              ? trans.__('Asking…')
              : foundWords(search, found.length, tail.lines.length)}
        </span>
        {tail.start > 0 && tail.lines.length < MOST_LINES && (
          <button
            type="button"
            className="jp-AcaiView-button"
            onClick={() => void tail.showEarlier(source.size)}
          >
            {trans.__('earlier (%1)', formatSize(tail.start))}
          </button>
        )}
      </div>
      {error !== null && (
        <p className="jp-AcaiView-error" role="alert">
          {error.message}
        </p>
      )}
      <LogLines
        found={found}
        gone={search.lines === null ? tail.gone : 0}
        job={source.number}
        wanted={wanted}
        wraps={wraps}
      />
      {tail.lines.length === 0 && tail.hasEnded && (
        <p className="jp-AcaiLog-empty">{trans.__('It printed nothing.')}</p>
      )}
    </>
  );
}

function useTail(props: ILogViewProps): LogTail {
  const { project, source, stage, services } = props;
  const { number, attempt, size } = source;
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  const tail = React.useMemo(
    () =>
      new LogTail(
        offset => services.jobs.log(project, number, attempt, offset),
        again
      ),
    [services, project, number, attempt]
  );
  React.useEffect(() => {
    void tail.advance(size);
  }, [tail, size, stage]);
  return tail;
}

/** What a log has on its lines before those that are shown, the server finds. */
function useSearch(props: ILogViewProps, wanted: string): LogSearch {
  const { project, source, stage, services } = props;
  const { number, attempt } = source;
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  const search = React.useMemo(
    () =>
      new LogSearch(
        text => services.jobs.searchLog(project, number, attempt, text),
        again
      ),
    [services, project, number, attempt]
  );
  React.useEffect(() => {
    search.look(wanted);
  }, [search, wanted, stage]);
  React.useEffect(
    () => () => {
      search.dispose();
    },
    [search]
  );
  return search;
}

/** How many lines of all have it, and whether all of those are shown. */
function foundWords(search: LogSearch, shown: number, read: number): string {
  const { found } = search;
  if (found?.is_cut === true) {
    return trans.__(
      'the first %1 of more than %2 lines',
      count(shown),
      count(found.count)
    );
  }
  if (found !== null && found.count > shown) {
    return trans.__(
      'the first %1 of %2 lines',
      count(shown),
      count(found.count)
    );
  }
  const all = found?.of ?? read;
  return trans._n(
    '%2 of %3 line',
    '%2 of %3 lines',
    all,
    count(shown),
    count(all)
  );
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}
