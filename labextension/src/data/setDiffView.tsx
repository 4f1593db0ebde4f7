import * as React from 'react';

import type { IComparison, IDifference, IDifferenceKind } from '../contract';
import { asAcaiError } from '../core/connectionStore';
import type { DataClient } from '../core/dataClient';
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
  const [found, setFound] = React.useState<IComparison | null>(null);
  const [failure, setFailure] = React.useState('');
  const read = React.useCallback(
    (start: number) => {
      client.compare(`@${before}`, `@${after}`, start).then(
        page => {
          setFailure('');
          setFound(known => ({
            ...page,
            differences: [
              ...(start === 0 ? [] : (known?.differences ?? [])),
              ...page.differences
            ]
          }));
        },
        (error: unknown) => {
          setFailure(asAcaiError(error).message);
        }
      );
    },
    [before, after, client]
  );
  const next = found?.next ?? null;
  React.useEffect(() => {
    if (found === null || failure !== '') {
      read(next ?? 0);
    }
  }, [read, stamp]);
  const names = trans.__('%1 and %2', before, after);
  return (
    <section aria-label={names} className="jp-AcaiData-thing">
      <h2>{names}</h2>
      <Fault words={failure} onAgain={onAgain} />
      {failure === '' && <p role="status">{summaryOf(found)}</p>}
      {found !== null && found.differences.length > 0 && (
        <table
          className="jp-AcaiData-table"
          aria-label={trans.__('files that differ')}
        >
          <tbody>
            {found.differences.map(one => (
              <Row
                key={`${one.kind} ${one.before?.path ?? ''} ${one.after?.path ?? ''}`}
                {...props}
                one={one}
              />
            ))}
          </tbody>
        </table>
      )}
      {next !== null && (
        <Action
          words={trans.__('more')}
          onClick={() => {
            read(next);
          }}
        />
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

function summaryOf(found: IComparison | null): string {
  if (found === null) {
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
