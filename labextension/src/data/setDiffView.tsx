import * as React from 'react';

import type { IComparison, IDifference, IDifferenceKind } from '../contract';
import type { DataClient } from '../core/dataClient';
import { PagedList } from '../core/pagedList';
import { fileSpec } from '../core/specText';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { Action } from '../views/action';
import { Fault } from '../views/fault';

const KINDS: { [kind in IDifferenceKind]: () => string } = {
  added: () => trans.__('added'),
  removed: () => trans.__('removed'),
  changed: () => trans.__('changed'),
  renamed: () => trans.__('renamed')
};
const SIGNS = { added: '+', removed: '−', changed: '~', renamed: '→' };

/** In which files two file set versions differ. */
export function SetDiffView(props: {
  before: string;
  after: string;
  client: DataClient;
  /** Raised when it may be worth to ask again. */
  stamp: number;
  onAgain: () => void;
  onCompare: (path: string, before: number, after: number) => void;
  onOpenFile: (path: string, version: number) => void;
}): React.ReactElement {
  const { before, after, client, stamp, onAgain } = props;
  const list = React.useMemo(
    () =>
      new PagedList<IComparison, number>(async start => {
        const page = await client.compare(
          `@${before}`,
          `@${after}`,
          start ?? 0
        );
        return { items: [page], next: page.next ?? null };
      }),
    [before, after, client]
  );
  const [, drawAgain] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => list.subscribe(drawAgain), [list]);
  React.useEffect(() => {
    void list.ask();
  }, [list, stamp]);
  const failure = list.error?.message ?? '';
  const differences = list.items.flatMap(page => page.differences);
  const names = trans.__('%1 and %2', before, after);
  return (
    <section aria-label={names} className="jp-AcaiData-thing">
      <h2>{names}</h2>
      <Fault
        words={failure}
        onAgain={() => {
          list.insist();
          onAgain();
        }}
      />
      {failure === '' && <p role="status">{summaryOf(list.items.at(-1))}</p>}
      {differences.length > 0 && (
        <table
          className="jp-AcaiData-table"
          aria-label={trans.__('files that differ')}
        >
          <tbody>
            {differences.map(one => (
              <Row
                key={`${one.kind} ${one.before?.path ?? ''} ${one.after?.path ?? ''}`}
                {...props}
                one={one}
              />
            ))}
          </tbody>
        </table>
      )}
      {list.hasMore && (
        <Action words={trans.__('more')} onClick={() => void list.more()} />
      )}
    </section>
  );
}

function Row(props: {
  one: IDifference;
  onCompare: (path: string, before: number, after: number) => void;
  onOpenFile: (path: string, version: number) => void;
}): React.ReactElement {
  const { one, onCompare, onOpenFile } = props;
  const { kind, before, after } = one;
  const there = after ?? before;
  return (
    <tr data-kind={kind}>
      <td>{SIGNS[kind]}</td>
      <td>{KINDS[kind]()}</td>
      <td
        data-acai-file={
          there === null ? undefined : fileSpec(there.path, there.version)
        }
      >
        {kind === 'renamed' && `${oneLine(before?.path ?? '')} → `}
        {oneLine(there?.path ?? '')}
      </td>
      <td>
        {kind === 'changed' && before !== null && after !== null ? (
          <Action
            words={trans.__('lines')}
            name={trans.__('lines that differ in %1', oneLine(after.path))}
            onClick={() => {
              onCompare(after.path, before.version, after.version);
            }}
          />
        ) : (
          there !== null && (
            <Action
              words={trans.__('open')}
              name={trans.__('open %1', oneLine(there.path))}
              onClick={() => {
                onOpenFile(there.path, there.version);
              }}
            />
          )
        )}
      </td>
    </tr>
  );
}

function summaryOf(found: IComparison | undefined): string {
  if (found === undefined) {
    return trans.__('Asking…');
  }
  const { added, removed, changed, renamed } = found;
  const count = (number: number) => number.toLocaleString('en-US');
  const parts = [
    added > 0 && trans._n('%2 added', '%2 added', added, count(added)),
    removed > 0 &&
      trans._n('%2 removed', '%2 removed', removed, count(removed)),
    changed > 0 &&
      trans._n('%2 changed', '%2 changed', changed, count(changed)),
    renamed > 0 && trans._n('%2 renamed', '%2 renamed', renamed, count(renamed))
  ].filter(part => part !== false);
  return parts.length === 0
    ? trans.__('They hold the same.')
    : parts.join(' · ');
}
