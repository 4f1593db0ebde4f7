import * as React from 'react';

import type { ICounted, IFound, IKnownKey } from '../contract';
import type { AcaiError } from '../core/errors';
import { AT_ONCE } from '../core/hiddenJobs';
import type { JobPages } from '../core/jobPages';
import type { ProjectClient } from '../core/projectClient';
import { RunningJobs } from '../core/runningJobs';
import { trans } from '../core/translation';
import { Fault } from '../views/fault';
import { Choice } from './choice';
import { ColumnsMenu } from './columnsMenu';
import { FilterBar } from './filterBar';
import { Grid } from './grid';
import type { Chosen } from './selection';
import { SelectionBar } from './selectionBar';

export interface IJobsViewProps {
  pages: JobPages;
  client: ProjectClient;
  /** Resolves when it is known whose jobs these are. */
  connect: () => Promise<void>;
  onColumns: (columns: string[]) => void;
  onOpen: (job: number) => void;
  onCompare: (before: number, after: number) => void;
}

/** The history of jobs: which ones, in which order, with which of their values; and what to do with those chosen. */
export function JobsView(props: IJobsViewProps): React.ReactElement {
  const { pages, client, connect, onColumns, onOpen, onCompare } = props;
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => pages.subscribe(again), [pages]);
  const choice = useChoice();
  const { chosen, failure } = choice;
  const hidden = useHidden(pages, chosen);
  const soFar = useSoFar(pages, client);
  const complete = React.useCallback(
    async (prefix: string): Promise<IKnownKey[]> => {
      await connect();
      return (await client.keys(prefix, 50)).keys;
    },
    [client, connect]
  );
  const values = React.useCallback(
    (query: string, key: string): Promise<ICounted> =>
      client.count({ kind: 'job', query, keys: [key] }),
    [client]
  );
  const { query, columns } = pages.listing;
  return (
    <section
      aria-label={trans.__('all jobs')}
      className="jp-AcaiJobsTab-content"
    >
      <div className="jp-AcaiJobsTab-bar">
        <FilterBar
          query={query}
          error={queryFault(pages.error)}
          onQuery={next => void pages.choose({ query: next })}
          complete={complete}
          values={values}
        />
        <ColumnsMenu
          columns={columns}
          complete={complete}
          onColumns={next => {
            onColumns(next);
            void pages.choose({ columns: next });
          }}
        />
        <span className="jp-AcaiJobsTab-count" role="status">
          {countOf(pages)}
        </span>
      </div>
      <SelectionBar
        chosen={chosen}
        hidden={hidden}
        listed={pages.isCounted ? pages.count : null}
        client={client}
        onCompare={onCompare}
        onAll={() => {
          void choice.add(pages.all());
        }}
        onClear={choice.clear}
        onGone={choice.remove}
      />
      <Fault words={failure} onAgain={null} />
      <Fault
        words={otherFault(pages.error)}
        onAgain={() => {
          void connect().then(() => {
            pages.doubt();
          });
        }}
      />
      <Grid
        pages={pages}
        chosen={chosen}
        soFar={soFar}
        onToggle={choice.toggle}
        onAdd={jobs => void choice.add(jobs)}
        onOpen={onOpen}
        onOrder={order => void pages.choose({ order })}
      />
    </section>
  );
}

function useChoice(): Choice {
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  const [choice] = React.useState(() => new Choice());
  React.useEffect(() => choice.subscribe(again), [choice]);
  return choice;
}

const TICK_MS = 1000;
/** As many running jobs as the server tells at once. */
const MOST_RUNNING = 100;

/** What jobs that run are billed and cost until now, counted on while any are in the list. */
function useSoFar(
  pages: JobPages,
  client: ProjectClient
): (row: IFound, column: string) => number | null {
  const known = React.useMemo(
    () =>
      new RunningJobs(
        async () => (await client.overview(MOST_RUNNING)).running
      ),
    [client]
  );
  const [now, setNow] = React.useState(() => new Date());
  const [isCounting, setCounting] = React.useState(false);
  const { revision } = pages;
  React.useEffect(() => {
    known.look(pages).then(
      isRunning => {
        setCounting(isRunning);
        setNow(new Date());
      },
      () => undefined
    );
  }, [known, pages, revision]);
  React.useEffect(() => {
    if (!isCounting) {
      return undefined;
    }
    const timer = setInterval(() => {
      setNow(new Date());
    }, TICK_MS);
    return () => {
      clearInterval(timer);
    };
  }, [isCounting]);
  return (row, column) => known.soFar(pages, row, column, now);
}

/** How many of the chosen jobs are not in the list, asked where it cannot be seen. */
function useHidden(pages: JobPages, chosen: Chosen): number {
  const [hidden, setHidden] = React.useState(0);
  // Of more than that it takes many questions, too many for each change of a job.
  const asOf =
    chosen.size > AT_ONCE ? pages.shownListing.query : String(pages.revision);
  React.useEffect(() => {
    const asking = new AbortController();
    pages.countHidden([...chosen], asking.signal).then(
      found => {
        if (!asking.signal.aborted) {
          setHidden(found);
        }
      },
      () => undefined
    );
    return () => {
      asking.abort();
    };
  }, [pages, chosen, asOf]);
  return hidden;
}

/** What the field is to say; other troubles are not the query's. */
function queryFault(error: AcaiError | null): AcaiError | null {
  return error?.code === 'bad_query' ? error : null;
}

function otherFault(error: AcaiError | null): string {
  return queryFault(error) === null ? (error?.message ?? '') : '';
}

function countOf(pages: JobPages): string {
  if (pages.isEmpty) {
    return trans.__('Asking…');
  }
  const { count } = pages;
  const words = count.toLocaleString('en-US');
  return pages.isCounted
    ? trans._n('%2 job', '%2 jobs', count, words)
    : trans._n('at least %2 job', 'at least %2 jobs', count, words);
}
