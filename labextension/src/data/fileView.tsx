import * as React from 'react';

import type { IFileVersion } from '../contract';
import { type FileVersions, makerOf } from '../core/fileVersions';
import { formatSize } from '../core/format';
import { fileSpec } from '../core/specText';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { formatValue, fullValue } from '../core/values';
import { Action, SureAction } from '../views/action';
import { Fault } from '../views/fault';

export interface IFileViewProps {
  file: FileVersions;
  /** What went wrong with what was done last. */
  failure: string;
  onOpen: (version: number) => void;
  onDownload: (version: number) => void;
  /** Deletes a version, or brings it back. */
  onRemove: (version: number, undo: boolean) => void;
  onCompare: (before: number, after: number) => void;
  /** Ask for what could not be read. */
  onAgain: () => void;
  onOpenJob: (job: number) => void;
  /** What is said of one version, below the list. */
  about: (version: number) => React.ReactNode;
}

/** One file: its versions with who made each, when, and by which job; what one of them holds; how two differ. */
export function FileView(props: IFileViewProps): React.ReactElement {
  const { file, onCompare, onAgain } = props;
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => file.subscribe(again), [file]);
  const { items } = file;
  React.useEffect(() => {
    void file.trace();
  }, [file, items]);
  const [chosen, setChosen] = React.useState<readonly number[]>([]);
  const [selected, setSelected] = React.useState<number | null>(null);
  const shown = selected ?? file.items[0]?.version ?? null;
  const fault = props.failure || (file.error?.message ?? '');
  const [after, before] = [...chosen].sort((a, b) => b - a);
  return (
    <section aria-label={oneLine(file.path)} className="jp-AcaiData-thing">
      <h2>{oneLine(file.path)}</h2>
      <Fault words={fault} onAgain={file.error === null ? null : onAgain} />
      {file.isEmpty && fault === '' && (
        <p role="status">{trans.__('Asking…')}</p>
      )}
      {!file.isEmpty && (
        <table className="jp-AcaiData-table" aria-label={trans.__('versions')}>
          <thead>
            <tr>
              <th scope="col">
                <span className="jp-AcaiView-aside">{trans.__('compare')}</span>
              </th>
              {[
                trans.__('version'),
                trans.__('size'),
                trans.__('when'),
                trans.__('who'),
                trans.__('made by')
              ].map(words => (
                <th key={words} scope="col">
                  {words}
                </th>
              ))}
              <th scope="col">
                <span className="jp-AcaiView-aside">
                  {trans.__('what to do')}
                </span>
              </th>
            </tr>
          </thead>
          <tbody>
            {file.items.map(one => (
              <Row
                key={one.version}
                {...props}
                one={one}
                isShown={one.version === shown}
                isChosen={chosen.includes(one.version)}
                onShow={() => {
                  setSelected(one.version);
                }}
                onChoose={isChosen => {
                  const rest = chosen.filter(other => other !== one.version);
                  setChosen(isChosen ? [...rest.slice(-1), one.version] : rest);
                }}
              />
            ))}
          </tbody>
        </table>
      )}
      <div role="group" aria-label={trans.__('versions, what to do')}>
        {file.hasMore && (
          <Action words={trans.__('older')} onClick={() => void file.more()} />
        )}
        {before !== undefined && after !== undefined ? (
          <Action
            words={trans.__('compare %1 and %2', before, after)}
            onClick={() => {
              onCompare(before, after);
            }}
          />
        ) : (
          file.items.length > 1 && (
            <span className="jp-AcaiData-hint">
              {trans.__('Tick two versions to compare them.')}
            </span>
          )
        )}
      </div>
      {shown !== null && props.about(shown)}
    </section>
  );
}

function Row(
  props: IFileViewProps & {
    one: IFileVersion;
    isShown: boolean;
    isChosen: boolean;
    onShow: () => void;
    onChoose: (isChosen: boolean) => void;
  }
): React.ReactElement {
  const { file, one, isShown, isChosen, onShow, onChoose, onOpenJob } = props;
  const { version } = one;
  const isDeleted = typeof one.deleted_at === 'string';
  const { words, job } = makerOf(file.originOf(version));
  return (
    <tr
      data-deleted={isDeleted ? '' : undefined}
      data-active={isShown ? '' : undefined}
      data-acai-file={fileSpec(file.path, version)}
    >
      <td>
        <input
          type="checkbox"
          aria-label={trans.__('compare version %1', version)}
          disabled={isDeleted}
          checked={isChosen}
          onChange={event => {
            onChoose(event.currentTarget.checked);
          }}
        />
      </td>
      <td>
        <button
          type="button"
          className="jp-AcaiView-button"
          aria-label={trans.__('version %1', version)}
          aria-pressed={isShown}
          onClick={onShow}
        >
          {version}
        </button>
      </td>
      <td>{isDeleted ? trans.__('deleted') : formatSize(one.size_bytes)}</td>
      <td title={fullValue('created_at', { time: one.created_at })}>
        {formatValue('created_at', { time: one.created_at })}
      </td>
      <td>{oneLine(one.creator)}</td>
      <td data-acai-thing={job ?? undefined}>
        {job === null ? (
          words
        ) : (
          <Action
            words={words}
            onClick={() => {
              onOpenJob(job);
            }}
          />
        )}
      </td>
      <td>
        {isDeleted ? (
          <Action
            words={trans.__('bring back')}
            name={trans.__('bring back version %1', version)}
            onClick={() => {
              props.onRemove(version, true);
            }}
          />
        ) : (
          <>
            <Action
              words={trans.__('open')}
              name={trans.__('open version %1', version)}
              onClick={() => {
                props.onOpen(version);
              }}
            />
            <Action
              words={trans.__('download')}
              name={trans.__('download version %1', version)}
              onClick={() => {
                props.onDownload(version);
              }}
            />
            <SureAction
              words={trans.__('delete')}
              name={trans.__('delete version %1', version)}
              sure={trans.__('yes, delete version %1', version)}
              not={trans.__('keep')}
              onSure={() => {
                props.onRemove(version, false);
              }}
            />
          </>
        )}
      </td>
    </tr>
  );
}
