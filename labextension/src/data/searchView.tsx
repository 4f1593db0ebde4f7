import * as React from 'react';

import type { IKnownKey, ISubjectKind } from '../contract';
import type { DataClient } from '../core/dataClient';
import { oneLine } from '../core/text';
import { type IFoundKind, KINDS, type ThingSearch } from '../core/thingSearch';
import { trans } from '../core/translation';
import { formatValue, fullValue } from '../core/values';
import { QueryField } from '../jobs/queryField';
import { Action } from '../views/action';

/** Who types waits no longer than this for what is found. */
const PAUSE_MS = 200;
const EXAMPLE = 'accuracy > 0.9';
const NAMES: { [kind in ISubjectKind]: () => string } = {
  file_set: () => trans.__('File sets'),
  file: () => trans.__('Files'),
  job: () => trans.__('Jobs')
};

/** One field over files, file sets and jobs, in the query language. */
export function SearchField(props: {
  search: ThingSearch;
  client: DataClient;
}): React.ReactElement {
  const { search, client } = props;
  const [text, setText] = React.useState(search.query);
  const timer = React.useRef<ReturnType<typeof setTimeout>>();
  const complete = React.useCallback(
    async (prefix: string): Promise<IKnownKey[]> => {
      const lists = await Promise.all(
        KINDS.map(kind => client.keys(kind, prefix))
      );
      const known = lists.flatMap(({ keys }) =>
        keys.map(key => [key.key, key] as const)
      );
      return [...new Map(known).values()].slice(0, 20);
    },
    [client]
  );
  return (
    <div
      role="search"
      className="jp-AcaiData-search"
      data-lm-suppress-shortcuts="true"
    >
      <QueryField
        label={trans.__('Find files, file sets and jobs')}
        placeholder={trans.__('find, like: %1', EXAMPLE)}
        text={text}
        query={search.query}
        error={search.fault}
        complete={complete}
        onChange={(next, isAtOnce) => {
          setText(next);
          clearTimeout(timer.current);
          timer.current = setTimeout(
            () => void search.ask(next),
            isAtOnce ? 0 : PAUSE_MS
          );
        }}
      />
    </div>
  );
}

/** What was found, by kinds. */
export function FoundList(props: {
  search: ThingSearch;
  onOpen: (kind: ISubjectKind, thing: string) => void;
  onDrag: (kind: ISubjectKind, thing: string, data: DataTransfer) => void;
}): React.ReactElement {
  const { search } = props;
  const count = search.found.reduce(
    (sum, { list }) => sum + list.items.length,
    0
  );
  const told = search.isAsking
    ? trans.__('Asking…')
    : count === 0 && search.fault === null
      ? trans.__('Nothing is found.')
      : '';
  return (
    <div className="jp-AcaiData-found">
      <p role="status">{told}</p>
      {search.found.map(one => (
        <Group key={one.kind} {...props} found={one} />
      ))}
    </div>
  );
}

function Group(props: {
  found: IFoundKind;
  onOpen: (kind: ISubjectKind, thing: string) => void;
  onDrag: (kind: ISubjectKind, thing: string, data: DataTransfer) => void;
}): React.ReactElement | null {
  const { found, onOpen, onDrag } = props;
  const { kind, list } = found;
  const { items, hasMore } = list;
  const name = NAMES[kind]();
  if (items.length === 0) {
    return null;
  }
  return (
    <section aria-label={trans.__('%1 found', name)}>
      <h3>{`${name} ${items.length}${hasMore ? '+' : ''}`}</h3>
      <ul>
        {items.map(({ thing, values }) => (
          <li key={thing}>
            <button
              type="button"
              className="jp-AcaiData-row"
              data-acai-thing={kind === 'file' ? undefined : thing}
              data-acai-file={kind === 'file' ? thing : undefined}
              draggable={kind !== 'job'}
              onDragStart={event => {
                onDrag(kind, thing, event.dataTransfer);
              }}
              onClick={() => {
                onOpen(kind, thing);
              }}
            >
              <span>
                {oneLine(kind === 'job' ? trans.__('job %1', thing) : thing)}
              </span>
              <span title={values.map(one => fullValue('', one)).join(' · ')}>
                {values
                  .map(value => formatValue('', value))
                  .filter(words => words !== '')
                  .join(' · ')}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {hasMore && (
        <Action
          words={trans.__('more')}
          name={trans.__('more: %1', name)}
          onClick={() => void list.more()}
        />
      )}
    </section>
  );
}
