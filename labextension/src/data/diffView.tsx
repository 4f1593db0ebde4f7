import * as React from 'react';

import { formatSize } from '../core/format';
import { PagedList } from '../core/pagedList';
import { type PreviewReader, WHOLE_BYTES } from '../core/previews';
import { fileSpec } from '../core/specText';
import { oneLine } from '../core/text';
import { diffLines, folded, type IDiffLine } from '../core/textDiff';
import { trans } from '../core/translation';
import { Fault } from '../views/fault';

/** So many lines are laid out; who wants more reads the two files. */
const MOST_LINES = 5_000;

type Found = { words: string } | { lines: readonly IDiffLine[] };

/** What two versions of a text differ in, line by line. */
export function DiffView(props: {
  project: string;
  path: string;
  before: number;
  after: number;
  reader: PreviewReader;
  /** Raised when it may be worth to ask again. */
  stamp?: number;
  onAgain?: () => void;
}): React.ReactElement {
  const { project, path, before, after, reader, stamp, onAgain } = props;
  const list = React.useMemo(() => {
    const read = async (version: number) => {
      const place = { project, path, version, part: 1 };
      return (await reader.whole(place)).bytes;
    };
    return new PagedList<Found, null>(async () => {
      const [left, right] = await Promise.all([read(before), read(after)]);
      return { items: [compared(left, right)], next: null };
    });
  }, [project, path, before, after, reader]);
  const [, draw] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => list.subscribe(draw), [list]);
  React.useEffect(() => {
    void list.ask();
  }, [list, stamp]);
  const failure = list.error?.message ?? '';
  const [found] = list.items;
  const names = trans.__(
    '%1 and %2',
    oneLine(fileSpec(path, before)),
    oneLine(fileSpec(path, after))
  );
  return (
    <section aria-label={names} className="jp-AcaiData-thing">
      <h2>{names}</h2>
      <Fault
        words={failure}
        onAgain={() => {
          list.insist();
          (onAgain ?? (() => void list.ask()))();
        }}
      />
      {found === undefined && failure === '' && (
        <p role="status">{trans.__('Asking…')}</p>
      )}
      {found !== undefined && 'words' in found && (
        <p role="status">{found.words}</p>
      )}
      {found !== undefined && 'lines' in found && <Lines lines={found.lines} />}
    </section>
  );
}

function Lines(props: { lines: readonly IDiffLine[] }): React.ReactElement {
  const { lines } = props;
  const more = lines.length - MOST_LINES;
  const count = (kind: IDiffLine['kind']) =>
    lines.filter(line => line.kind === kind).length;
  const [added, removed] = [count('added'), count('removed')];
  return (
    <>
      <p role="status">
        {trans._n(
          '%2 line added, %3 removed',
          '%2 lines added, %3 removed',
          added,
          added.toLocaleString('en-US'),
          removed.toLocaleString('en-US')
        )}
      </p>
      <table className="jp-AcaiDiff" aria-label={trans.__('lines that differ')}>
        <tbody>
          {lines.slice(0, MOST_LINES).map((line, at) => (
            <tr key={at} data-kind={line.kind}>
              <td>{line.before}</td>
              <td>{line.after}</td>
              <td>{SIGNS[line.kind]}</td>
              <td>{oneLine(line.text.replaceAll('\t', '    '))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && (
        <p>
          {trans._n(
            '%2 line more is not shown.',
            '%2 lines more are not shown.',
            more,
            more.toLocaleString('en-US')
          )}
        </p>
      )}
    </>
  );
}

const SIGNS = { same: ' ', added: '+', removed: '−', skipped: '…' };

function compared(left: Uint8Array, right: Uint8Array): Found {
  if (isSame(left, right)) {
    return { words: trans.__('They hold the same.') };
  }
  if (left.includes(0) || right.includes(0)) {
    return {
      words: trans.__(
        'They differ, and are not texts: %1 and %2.',
        formatSize(left.length),
        formatSize(right.length)
      )
    };
  }
  const decoder = new TextDecoder();
  const lines = diffLines(decoder.decode(left), decoder.decode(right));
  return lines === null
    ? {
        words: trans.__(
          'They differ in too many lines to be shown beside each other. Open both; up to %1 each is compared.',
          formatSize(WHOLE_BYTES)
        )
      }
    : { lines: folded(lines) };
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return (
    left.length === right.length && left.every((byte, at) => byte === right[at])
  );
}
