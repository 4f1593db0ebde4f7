import * as React from 'react';

import type { ProjectClient } from '../core/projectClient';
import { trans } from '../core/translation';
import { Action } from '../views/action';
import { MetricCharts } from './metricCharts';
import type { Chosen } from './selection';
import { SelectionTasks } from './selectionTasks';
import { TagField } from './tagField';

export interface ISelectionBarProps {
  chosen: Chosen;
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

type Doing = 'kill' | 'tag' | 'delete';

/** What is asked before something is done, of those that were chosen then. */
interface IQuestion {
  doing: Doing;
  things: readonly string[];
}

/** What can be done with the jobs that are chosen: compare two, see their metrics, tag, end or delete them. */
export function SelectionBar(props: ISelectionBarProps): React.ReactElement {
  const { chosen, hidden, client } = props;
  const tasks = useTasks(client, props.onGone);
  const [question, setQuestion] = React.useState<IQuestion | null>(null);
  const [answered, setAnswered] = React.useState<Doing | null>(null);
  const bar = React.useRef<HTMLDivElement>(null);
  const [showsMetrics, setShowsMetrics] = React.useState(false);
  const numbers = React.useMemo(() => numbersOf(chosen), [chosen]);
  const asked = isOf(question, chosen) ? question : null;
  const count = numbers.length;
  const ask = (doing: Doing) => {
    tasks.forgive();
    setQuestion({ doing, things: [...chosen] });
  };
  const end = () => {
    tasks.forgive();
    setQuestion(null);
    if (bar.current?.contains(document.activeElement) === true) {
      setAnswered(question?.doing ?? null);
    }
  };
  useKeptFocus(bar);
  React.useEffect(() => {
    // The focus is given back once.
    setAnswered(null);
  }, [answered]);
  return (
    <div
      ref={bar}
      tabIndex={-1}
      className="jp-AcaiChosen"
      role="group"
      aria-label={trans.__('chosen jobs')}
      data-lm-suppress-shortcuts="true"
    >
      <span role="status">
        {[...saidOf(count, hidden), tasks.told]
          .filter(part => part !== '')
          .join(' · ')}
      </span>
      {asked === null ? (
        <Actions
          {...props}
          numbers={numbers}
          isBusy={tasks.isBusy}
          answered={answered}
          showsMetrics={showsMetrics}
          onMetrics={() => {
            setShowsMetrics(!showsMetrics);
          }}
          onDo={ask}
        />
      ) : (
        <Question {...asked} tasks={tasks} onEnd={end} />
      )}
      {tasks.canStop && (
        <Action
          words={trans.__('stop')}
          onClick={() => {
            tasks.stop();
          }}
        />
      )}
      {tasks.canUndo && asked === null && (
        <Action
          words={trans.__('undo')}
          isBusy={tasks.isBusy}
          onClick={() => void tasks.undo()}
        />
      )}
      {tasks.failure !== '' && (
        <span className="jp-AcaiView-error" role="alert">
          {tasks.failure}
        </span>
      )}
      {showsMetrics && count > 1 && (
        <MetricCharts numbers={numbers} client={client} />
      )}
    </div>
  );
}

function useTasks(
  client: ProjectClient,
  onGone: ISelectionBarProps['onGone']
): SelectionTasks {
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  const tasks = React.useMemo(
    () => new SelectionTasks(client, onGone),
    [client, onGone]
  );
  React.useEffect(() => tasks.subscribe(again), [tasks]);
  return tasks;
}

/** What had the keyboard's focus may go away, and the focus stays near. */
function useKeptFocus(bar: React.RefObject<HTMLElement>): void {
  const had = bar.current?.contains(document.activeElement) ?? false;
  React.useLayoutEffect(() => {
    const node = bar.current;
    if (had && node?.contains(document.activeElement) === false) {
      (node.querySelector('button') ?? node).focus();
    }
  });
}

/** Whether all that a question was asked of are chosen still. */
function isOf(question: IQuestion | null, chosen: Chosen): boolean {
  return question?.things.every(thing => chosen.has(thing)) ?? false;
}

function numbersOf(things: Iterable<string>): number[] {
  return [...things].map(Number).sort((a, b) => a - b);
}

/** What is asked twice, or in full. */
function Question(
  props: IQuestion & { tasks: SelectionTasks; onEnd: () => void }
): React.ReactElement {
  const { doing, things, tasks, onEnd } = props;
  const count = things.length;
  if (doing === 'tag') {
    return (
      <TagField
        label={trans._n(
          'What to change on %1 job',
          'What to change on %1 jobs',
          count
        )}
        onCancel={onEnd}
        onChange={async change => {
          if (await tasks.tag(things, change)) {
            onEnd();
          }
        }}
      />
    );
  }
  return doing === 'delete' ? (
    <Sure
      words={trans._n('yes, delete %1 job', 'yes, delete %1 jobs', count)}
      not={trans.__('keep them')}
      onSure={() => void tasks.remove(numbersOf(things))}
      onEnd={onEnd}
    />
  ) : (
    <Sure
      words={trans._n('yes, end %1 job', 'yes, end %1 jobs', count)}
      not={trans.__('let them run')}
      onSure={() => void tasks.kill(numbersOf(things))}
      onEnd={onEnd}
    />
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
    isBusy: boolean;
    /** What was asked before these came back. */
    answered: Doing | null;
    showsMetrics: boolean;
    onMetrics: () => void;
    onDo: (doing: Doing) => void;
  }
): React.ReactElement {
  const { numbers, isBusy, answered, listed, hidden, onCompare, onDo } = props;
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
            isBusy={isBusy}
            takesFocus={answered === 'tag'}
            onClick={() => {
              onDo('tag');
            }}
          />
          <Action
            words={trans.__('kill')}
            isBusy={isBusy}
            takesFocus={answered === 'kill'}
            onClick={() => {
              onDo('kill');
            }}
          />
          <Action
            words={trans.__('clean up')}
            isBusy={isBusy}
            takesFocus={answered === 'delete'}
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
  onEnd: () => void;
}): React.ReactElement {
  const { words, not, onSure, onEnd } = props;
  return (
    <>
      <Action
        words={words}
        isLoud
        onClick={() => {
          onEnd();
          onSure();
        }}
      />
      <Action words={not} takesFocus onClick={onEnd} />
    </>
  );
}
