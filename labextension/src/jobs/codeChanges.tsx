import * as React from 'react';

import type { IDifference, IJob } from '../contract';
import type { DataClient } from '../core/dataClient';
import { isGiven } from '../core/given';
import type { PreviewReader } from '../core/previews';
import type { ProjectClient } from '../core/projectClient';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { DiffView } from '../data/diffView';
import { useAnswer } from '../views/answer';
import { Fault } from '../views/fault';

/** So many files are laid out line by line; of more it is said that they differ. */
const MOST_FILES = 10;

export interface ICodeChangesProps {
  job: IJob;
  client: ProjectClient;
  data: DataClient;
  reader: PreviewReader;
}

type Found =
  | { kind: 'words'; words: string }
  | { kind: 'changes'; words: string; changes: readonly IDifference[] };

/** What of a job's code is other than in the last one of its kind that finished before it. */
export function CodeChanges(
  props: ICodeChangesProps
): React.ReactElement | null {
  const { job, client, data, reader } = props;
  const { number, code } = job;
  const find = React.useCallback(
    () => changesOf(number, code ?? null, client, data),
    [number, code, client, data]
  );
  return (
    <Changes
      name={trans.__('code of job %1, what changed', number)}
      data={data}
      reader={reader}
      find={find}
    />
  );
}

/** In which lines the code of two jobs differs; nothing where both have the same. */
export function CodeDifference(props: {
  before: IJob;
  after: IJob;
  data: DataClient;
  reader: PreviewReader;
}): React.ReactElement {
  const { before, after, data, reader } = props;
  const find = React.useCallback(
    () => differenceOf(before, after, data),
    [before, after, data]
  );
  return (
    <Changes
      name={trans.__('code of jobs %1 and %2', before.number, after.number)}
      data={data}
      reader={reader}
      find={find}
    />
  );
}

/** What was found to differ, line by line. */
function Changes(props: {
  name: string;
  data: DataClient;
  reader: PreviewReader;
  find: () => Promise<Found | null>;
}): React.ReactElement | null {
  const { name, data, reader, find } = props;
  const { found, failure, tryAgain } = useAnswer(find);
  if (failure !== '') {
    return (
      <section aria-label={name} className="jp-AcaiSections-code">
        <Fault words={failure} onAgain={tryAgain} />
      </section>
    );
  }
  if (found === null) {
    return null;
  }
  const changes = found.kind === 'changes' ? found.changes : [];
  const texts = changes.filter(isChanged);
  return (
    <section aria-label={name} className="jp-AcaiSections-code">
      <p>{found.words}</p>
      {texts.slice(0, MOST_FILES).map(({ before, after }) => (
        <DiffView
          key={after.path}
          project={data.project()}
          path={after.path}
          before={before.version}
          after={after.version}
          reader={reader}
        />
      ))}
      {changes.length > 0 && (
        <ul>
          {[...texts.slice(MOST_FILES), ...changes.filter(isOther)].map(one => (
            <li key={`${one.kind} ${nameOf(one)}`}>{wordsOf(one)}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

async function changesOf(
  number: number,
  code: string | null,
  client: ProjectClient,
  data: DataClient
): Promise<Found> {
  if (code === null) {
    return { kind: 'words', words: trans.__('It has no code of its own.') };
  }
  const earlier = await client.finishedBefore(number);
  if (earlier === null || !isGiven(earlier.code)) {
    const words = trans.__('No job of its kind has finished before it.');
    return { kind: 'words', words };
  }
  const since = earlier.number;
  if (earlier.code === code) {
    const words = trans.__(
      'Its code is that of job %1, the last of its kind that finished before it.',
      since
    );
    return { kind: 'words', words };
  }
  const { differences } = await data.compare(`@${earlier.code}`, `@${code}`, 0);
  return {
    kind: 'changes',
    words: trans.__(
      'Its code differs from that of job %1, the last of its kind that finished before it:',
      since
    ),
    changes: differences
  };
}

/** What to say of the code of two jobs; null where it is the same. */
export async function differenceOf(
  before: IJob,
  after: IJob,
  data: Pick<DataClient, 'compare'>
): Promise<Found | null> {
  const [one, other] = [before.code ?? null, after.code ?? null];
  if (one === other) {
    return null;
  }
  if (one === null || other === null) {
    const { number } = one === null ? before : after;
    const words = trans.__('Job %1 has no code of its own.', number);
    return { kind: 'words', words };
  }
  const { differences } = await data.compare(`@${one}`, `@${other}`, 0);
  return {
    kind: 'changes',
    words: trans.__(
      'The code of job %1 differs from that of job %2:',
      after.number,
      before.number
    ),
    changes: differences
  };
}

type Changed = IDifference & {
  before: NonNullable<IDifference['before']>;
  after: NonNullable<IDifference['after']>;
};

function isChanged(one: IDifference): one is Changed {
  return one.kind === 'changed' && one.before !== null && one.after !== null;
}

function isOther(one: IDifference): boolean {
  return !isChanged(one);
}

function nameOf({ before, after }: IDifference): string {
  return oneLine((after ?? before)?.path ?? '');
}

function wordsOf(one: IDifference): string {
  const name = nameOf(one);
  switch (one.kind) {
    case 'added':
      return trans.__('%1 is new', name);
    case 'removed':
      return trans.__('%1 is gone', name);
    case 'renamed':
      return trans.__('%1 was %2', name, oneLine(one.before?.path ?? ''));
    case 'changed':
      return trans.__('%1 differs', name);
  }
}
