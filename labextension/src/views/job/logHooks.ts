import * as React from 'react';

import { LogPages } from '../../core/logPages';
import { LogSearch } from '../../core/logSearch';
import { LogTail } from '../../core/logTail';
import type { ViewServices } from '../services';
import type { IGoal } from './logWindow';
import { keepWraps, wrapsKept } from './wrapKept';

/** A line that is to be shown, of an attempt; of the last one where that is 0. */
export interface ILogTarget {
  line: number;
  attempt: number;
}

/** Which attempt's log is read, and how long it is as far as that is known. */
export interface ILogSource {
  number: number;
  attempt: number;
  size: number;
}

export interface ILogViewProps {
  project: string;
  source: ILogSource;
  /** When it changes there may be more, though the size is as before. */
  stage: string;
  isOver: boolean;
  services: ViewServices;
  target?: ILogTarget;
  children?: React.ReactNode;
}

/** The line that is marked, and where somebody wants to be; each wish is another one. */
export function useMark({ target }: ILogViewProps) {
  const [marked, setMarked] = React.useState<number | null>(null);
  const [goal, setGoal] = React.useState<IGoal | null>(null);
  const show = React.useCallback((number: number) => {
    setMarked(number);
    setGoal({ number });
  }, []);
  const showEnd = React.useCallback(() => {
    setGoal({ number: 'end' });
  }, []);
  const showBegin = React.useCallback(() => {
    setGoal({ number: 1 });
  }, []);
  React.useEffect(() => {
    if (target !== undefined) {
      show(target.line);
    }
  }, [target, show]);
  return { marked, goal, mark: setMarked, show, showEnd, showBegin };
}

/** The browser remembers it, where it may. */
export function useWrap(): [boolean, (wraps: boolean) => void] {
  const [wraps, setWraps] = React.useState(wrapsKept);
  return [
    wraps,
    wanted => {
      setWraps(wanted);
      keepWraps(wanted);
    }
  ];
}

/** All lines by their numbers. */
export function usePages(props: ILogViewProps): LogPages {
  const { project, source, stage, services } = props;
  const { number, attempt, size } = source;
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  const pages = React.useMemo(
    () =>
      new LogPages(
        (first, limit) =>
          services.jobs.logLines(project, number, attempt, first, limit),
        again
      ),
    [services, project, number, attempt]
  );
  React.useEffect(() => {
    void pages.advance();
  }, [pages, size, stage]);
  useDisposed(pages);
  return pages;
}

/** The end of a long log, which is there before the server has counted its lines. */
export function useTail(props: ILogViewProps, isWanted: boolean): LogTail {
  const { project, source, services } = props;
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
    if (isWanted) {
      void tail.advance(size);
    }
  }, [tail, size, isWanted]);
  useDisposed(tail);
  return tail;
}

/** Nothing is asked for any more once it is not shown. */
function useDisposed(what: { dispose(): void }): void {
  React.useEffect(
    () => () => {
      what.dispose();
    },
    [what]
  );
}

/** What a log has on its lines before those that are shown, the server finds. */
export function useSearch(props: ILogViewProps, wanted: string): LogSearch {
  const { project, source, stage, services } = props;
  const { number, attempt } = source;
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  const search = React.useMemo(
    () =>
      new LogSearch(
        question => services.jobs.searchLog(project, number, attempt, question),
        again
      ),
    [services, project, number, attempt]
  );
  React.useEffect(() => {
    search.look(wanted);
  }, [search, wanted, stage]);
  useDisposed(search);
  return search;
}
