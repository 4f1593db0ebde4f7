import * as React from 'react';

import type { IFileSet } from '../contract';
import { formatSize } from '../core/format';
import type { PagedList } from '../core/pagedList';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { Action } from '../views/action';
import { Fault } from '../views/fault';
import { Sentence } from '../views/sentence';

const PUT_LINE = '%acai put FOLDER /path --as NAME';

/** The file sets of the project, the newest version of each name. */
export function SetList(props: {
  sets: PagedList<IFileSet, string>;
  /** What is said already. */
  told: string;
  /** Ask for what could not be read. */
  onAgain: () => void;
  onOpen: (name: string) => void;
  onDrag?: (ref: string, data: DataTransfer) => void;
}): React.ReactElement {
  const { sets, told, onAgain, onOpen, onDrag } = props;
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => sets.subscribe(again), [sets]);
  return (
    <div className="jp-AcaiData-found">
      {told === '' && (
        <Fault words={sets.error?.message ?? ''} onAgain={onAgain} />
      )}
      {sets.isEmpty && sets.error === null && (
        <p role="status">{trans.__('Asking…')}</p>
      )}
      {!sets.isEmpty && sets.items.length === 0 && (
        <p>
          <Sentence
            text={trans.__(
              'There are no file sets yet. Choose files and press %1, or %2.',
              '%1',
              '%2'
            )}
            parts={[
              <q key="make">{trans.__('make a set')}</q>,
              <code key="put">{PUT_LINE}</code>
            ]}
          />
        </p>
      )}
      <ul aria-label={trans.__('file sets')}>
        {sets.items.map(one => {
          const ref = `${one.name}:${one.version}`;
          return (
            <li key={one.name}>
              <button
                type="button"
                className="jp-AcaiData-row"
                data-acai-thing={ref}
                draggable={onDrag !== undefined}
                onDragStart={event => onDrag?.(ref, event.dataTransfer)}
                onClick={() => {
                  onOpen(one.name);
                }}
              >
                <span>{oneLine(ref)}</span>
                <span>{countOf(one)}</span>
              </button>
            </li>
          );
        })}
      </ul>
      {sets.hasMore && (
        <Action
          words={trans.__('more file sets')}
          onClick={() => void sets.more()}
        />
      )}
    </div>
  );
}

export function countOf(set: IFileSet): string {
  const count = set.file_count;
  const files = trans._n(
    '%2 file',
    '%2 files',
    count,
    count.toLocaleString('en-US')
  );
  return `${files} · ${formatSize(set.size_bytes)}`;
}
