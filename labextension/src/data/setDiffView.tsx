import * as React from 'react';

import type { IComparison, IDifference, IDifferenceKind } from '../contract';
import { asAcaiError } from '../core/connectionStore';
import type { DataClient } from '../core/dataClient';
import { fileSpec } from '../core/specText';
import { oneLine } from '../core/text';
import { Action } from '../views/action';

const KINDS: readonly IDifferenceKind[] = [
  'added',
  'removed',
  'changed',
  'renamed'
];
const SIGNS = { added: '+', removed: '−', changed: '~', renamed: '→' };

/** In which files two file set versions differ. */
export function SetDiffView(props: {
  before: string;
  after: string;
  client: DataClient;
  onCompare: (path: string, before: number, after: number) => void;
  onOpenFile: (path: string, version: number) => void;
}): React.ReactElement {
  const { before, after, client } = props;
  const [found, setFound] = React.useState<IComparison | null>(null);
  const [failure, setFailure] = React.useState('');
  const read = React.useCallback(
    (start: number) => {
      client.compare(`@${before}`, `@${after}`, start).then(
        page => {
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
  React.useEffect(() => {
    read(0);
  }, [read]);
  const names = `${before} and ${after}`;
  const next = found?.next ?? null;
  return (
    <section aria-label={names} className="jp-AcaiData-thing">
      <h2>{names}</h2>
      {failure !== '' && (
        <p className="jp-AcaiView-error" role="alert">
          {failure}
        </p>
      )}
      {failure === '' && <p role="status">{summaryOf(found)}</p>}
      {found !== null && found.differences.length > 0 && (
        <table className="jp-AcaiData-table" aria-label="files that differ">
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
          words="more"
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
      <td>{kind}</td>
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
            words="lines"
            name={`lines that differ in ${oneLine(after.path)}`}
            onClick={() => {
              onCompare(after.path, before.version, after.version);
            }}
          />
        ) : (
          there !== null && (
            <Action
              words="open"
              name={`open ${oneLine(there.path)}`}
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
    return 'Asking…';
  }
  const parts = KINDS.filter(kind => found[kind] > 0).map(
    kind => `${found[kind].toLocaleString('en-US')} ${kind}`
  );
  return parts.length === 0 ? 'They hold the same.' : parts.join(' · ');
}
