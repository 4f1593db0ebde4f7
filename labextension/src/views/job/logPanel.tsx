import * as React from 'react';

import type { IJob } from '../../contract';
import type { Line } from '../../core/ansi';
import { isGiven } from '../../core/given';
import type { JobModel } from '../../core/jobModel';
import { hasEnded } from '../../core/jobText';
import { nextHit } from '../../core/logHits';
import { trans } from '../../core/translation';
import type { LogSearch } from '../../core/logSearch';
import { useAnswer } from '../answer';
import { Fault } from '../fault';
import type { ViewServices } from '../services';
import { findLines, LogLines } from './logLines';
import type { ILogPlace } from './logPlace';
import { FirstError, HitButtons, LineLink, LogTools } from './logTools';
import { LogWindow } from './logWindow';
import {
  type ILogSource,
  type ILogTarget,
  type ILogViewProps,
  useMark,
  usePages,
  useSearch,
  useTail,
  useWrap
} from './logHooks';

export interface ILogPanelProps {
  model: JobModel;
  project: string;
  services: ViewServices;
  target?: ILogTarget;
  /** Somebody does something with it. */
  onUse?: () => void;
}

/** A job's log; that of one which did not run is the log of the job whose result it was given. */
export function LogPanel(props: ILogPanelProps): React.ReactElement {
  const { job, logBytes } = props.model;
  return (
    <div className="jp-AcaiLog" onFocus={props.onUse} onWheel={props.onUse}>
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
  const ask = React.useCallback(
    () => services.jobs.job(project, number),
    [services, project, number]
  );
  const { found, failure, tryAgain } = useAnswer<IJob>(ask);
  return (
    <>
      <p className="jp-AcaiLog-empty">
        {trans.__(
          'job %1 did not run: it was answered by job %2, whose log this is.',
          model.job.number,
          number
        )}
      </p>
      <Fault words={failure} onAgain={tryAgain} />
      {found !== null && (
        <LogOfJob
          project={project}
          services={services}
          job={found}
          logBytes={found.attempts.at(-1)?.log_bytes ?? 0}
          target={props.target}
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
  target?: ILogTarget;
}): React.ReactElement {
  const { job, logBytes, project, services, target } = props;
  const [chosen, setChosen] = React.useState<number | null>(null);
  React.useEffect(() => {
    if (target !== undefined && target.attempt > 0) {
      setChosen(target.attempt);
    }
  }, [target]);
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
      isOver={hasEnded(job) || source.attempt !== job.attempts.length}
      services={services}
      target={target}
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

/** A log as a terminal shows it, from its end on, growing while it is written, and a search in all of it. */
function LogView(props: ILogViewProps): React.ReactElement {
  const { source, project, services, isOver, children } = props;
  const { number, attempt } = source;
  const pages = usePages(props);
  const tail = useTail(props, pages.count === null);
  const [wanted, setWanted] = React.useState('');
  const [onlyHits, setOnlyHits] = React.useState(true);
  const [wraps, setWraps] = useWrap();
  const { marked, goal, mark, show, showEnd, showBegin } = useMark(props);
  const focus = React.useRef(false);
  const place: ILogPlace = React.useRef(null);
  const whole = pages.whole;
  // What is cut only the server can look through.
  const isHere = whole?.every(isUncut) ?? false;
  const search = useSearch(props, isHere ? '' : wanted);
  const found =
    search.lines ?? findLines(whole ?? tail.lines, wanted, whole !== null);
  const hits = wanted === '' ? [] : found.flatMap(one => one.number ?? []);
  const error =
    pages.error ?? (pages.count === null ? tail.error : null) ?? search.error;
  const go = (to: number | undefined) => {
    if (to !== undefined) {
      setOnlyHits(false);
      show(to);
    }
  };
  const at = React.useRef<number | null>(marked);
  at.current = marked;
  const going = React.useRef(Promise.resolve());
  const goOn = (by: 1 | -1) => {
    if (isHere) {
      go(nextHit(hits, marked ?? 0, by));
    } else {
      // Who presses twice goes on from where the first press leads.
      going.current = going.current.then(async () => {
        const to = await search.hit(at.current ?? 0, by);
        at.current = to ?? at.current;
        go(to);
      });
    }
  };
  const instead = (number: number) => search.instead(number);
  const isWindow =
    pages.count !== null &&
    whole === null &&
    (wanted === '' || !onlyHits || search.lines === null);
  const lines = {
    job: number,
    wanted,
    wraps,
    marked,
    goal,
    focus,
    place,
    instead,
    onMark: onlyHits && wanted !== '' ? go : mark
  };
  return (
    <>
      <div className="jp-AcaiLog-bar">
        <input
          type="search"
          className="jp-AcaiLog-search"
          aria-label={trans.__('Search in the log of job %1', number)}
          placeholder={trans.__('search')}
          value={wanted}
          onChange={event => {
            setOnlyHits(true);
            setWanted(event.target.value);
          }}
          onKeyDown={event => {
            if (event.key === 'Enter') {
              goOn(event.shiftKey ? -1 : 1);
            }
          }}
        />
        {hits.length > 0 && (
          <HitButtons
            job={number}
            onlyHits={onlyHits}
            onOnlyHits={setOnlyHits}
            onGo={goOn}
          />
        )}
        {children}
        <FirstError
          job={number}
          find={() => services.jobs.firstError(project, number, attempt)}
          onFound={line => {
            setWanted('');
            show(line);
          }}
        />
        <LogTools
          job={number}
          attempt={attempt}
          wraps={wraps}
          onWrap={setWraps}
          onEnd={showEnd}
          read={() => services.jobs.wholeLog(project, number, attempt)}
        />
        <span className="jp-AcaiLog-count" role="status">
          {wanted === ''
            ? ''
            : search.isAsking
              ? progressWords(search)
              : foundWords(
                  search,
                  found.length,
                  pages.count ?? tail.lines.length
                )}
        </span>
        {marked !== null && (
          <LineLink
            line={marked}
            address={services.linkTo(number, attempt, marked, project)}
          />
        )}
      </div>
      <Fault
        words={error?.message ?? ''}
        onAgain={() => {
          for (const one of [pages, tail, search]) {
            one.tryAgain();
          }
        }}
      />
      {isWindow ? (
        <LogWindow {...lines} pages={pages} count={pages.count ?? 0} />
      ) : (
        <LogLines
          {...lines}
          found={whole !== null && !onlyHits ? findLines(whole, '') : found}
          gone={0}
          onBegin={showBegin}
        />
      )}
      {pages.count === 0 && isOver && (
        <p className="jp-AcaiLog-empty">{trans.__('It printed nothing.')}</p>
      )}
    </>
  );
}

/** What is known before the whole log was read. */
function progressWords({ found }: LogSearch): string {
  return isGiven(found?.next)
    ? trans.__(
        '%1 of the first %2 lines, searching…',
        count(found.count),
        count(found.of)
      )
    : trans.__('Asking…');
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

function isUncut(line: Line): boolean {
  return line.every(span => span.cut === undefined);
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}
