import * as React from 'react';

import type { IFileSet } from '../contract';
import { linesForRow } from '../core/dragged';
import { FileTree } from '../core/fileTree';
import { asAcaiError } from '../core/connectionStore';
import type { DataClient } from '../core/dataClient';
import type { PagedList } from '../core/pagedList';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { formatValue, fullValue } from '../core/values';
import { Chips } from '../jobs/chips';
import { NoteField } from '../jobs/noteField';
import { Action, SureAction } from '../views/action';
import { Fault } from '../views/fault';
import { countOf } from './setList';
import { TreeView } from './treeView';

export interface ISetViewProps {
  name: string;
  versions: PagedList<IFileSet, number>;
  client: DataClient;
  /** The version that was asked for; the newest where none was. */
  wanted: number | null;
  /** Raised each time that something was read anew. */
  stamp: number;
  /** The project as lines have to name it, empty where they need not. */
  project: string;
  onCompare: (before: number, after: number) => void;
  onOpenFile: (path: string, version: number) => void;
  onProvenance: (ref: string) => void;
  onDownload: (ref: string) => void;
  /** Ask for what could not be read. */
  onAgain: () => void;
  /** Null where no cell could take it. */
  onUse: ((ref: string) => void) | null;
  about: (ref: string) => React.ReactNode;
}

/** One file set: its versions, what each holds, its aliases and note, how two differ. */
export function SetView(props: ISetViewProps): React.ReactElement {
  const { name, versions, wanted, onCompare, onAgain } = props;
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => versions.subscribe(again), [versions]);
  const [chosen, setChosen] = React.useState<readonly number[]>([]);
  const [selected, setSelected] = React.useState<number | null>(wanted);
  const [failure, setFailure] = React.useState('');
  React.useEffect(() => {
    setSelected(wanted);
  }, [wanted]);
  const [after, before] = [...chosen].sort((a, b) => b - a);
  const shown =
    versions.items.find(one => one.version === selected) ??
    versions.items.find(one => typeof one.deleted_at !== 'string');
  const attempt = (work: () => Promise<unknown>) =>
    work().then(
      async () => {
        setFailure('');
        await versions.refresh();
      },
      (error: unknown) => {
        setFailure(asAcaiError(error).message);
      }
    );
  const fault = failure || (versions.error?.message ?? '');
  return (
    <section
      aria-label={trans.__('file set %1', oneLine(name))}
      className="jp-AcaiData-thing"
      onChange={() => {
        // What is being edited stays in sight when a newer version comes.
        setSelected(shown?.version ?? null);
      }}
    >
      <h2>{oneLine(name)}</h2>
      <Fault words={fault} onAgain={versions.error === null ? null : onAgain} />
      {versions.isEmpty && fault === '' && (
        <p role="status">{trans.__('Asking…')}</p>
      )}
      {!versions.isEmpty && (
        <Versions
          {...props}
          shown={shown?.version ?? null}
          chosen={chosen}
          onShow={setSelected}
          onChoose={setChosen}
        />
      )}
      <div role="group" aria-label={trans.__('versions, what to do')}>
        {versions.hasMore && (
          <Action
            words={trans.__('older')}
            onClick={() => void versions.more()}
          />
        )}
        {before !== undefined && after !== undefined ? (
          <Action
            words={trans.__('compare %1 and %2', before, after)}
            onClick={() => {
              onCompare(before, after);
            }}
          />
        ) : (
          versions.items.length > 1 && (
            <span className="jp-AcaiData-hint">
              {trans.__('Tick two versions to compare them.')}
            </span>
          )
        )}
      </div>
      {shown !== undefined && (
        <Shown
          key={shown.version}
          {...props}
          shown={shown}
          onAttempt={attempt}
        />
      )}
    </section>
  );
}

function Versions(
  props: ISetViewProps & {
    shown: number | null;
    chosen: readonly number[];
    onShow: (version: number) => void;
    onChoose: (versions: readonly number[]) => void;
  }
): React.ReactElement {
  const { name, versions, shown, chosen, onShow, onChoose } = props;
  return (
    <table className="jp-AcaiData-table" aria-label={trans.__('versions')}>
      <thead>
        <tr>
          <th scope="col">
            <span className="jp-AcaiView-aside">{trans.__('compare')}</span>
          </th>
          {[
            trans.__('version'),
            trans.__('holds'),
            trans.__('when'),
            trans.__('who'),
            trans.__('aliases'),
            trans.__('note')
          ].map(words => (
            <th key={words} scope="col">
              {words}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {versions.items.map(one => {
          const { version } = one;
          const isDeleted = typeof one.deleted_at === 'string';
          return (
            <tr
              key={version}
              data-acai-thing={`${name}:${version}`}
              data-active={version === shown ? '' : undefined}
              data-deleted={isDeleted ? '' : undefined}
            >
              <td>
                <input
                  type="checkbox"
                  aria-label={trans.__('compare version %1', version)}
                  disabled={isDeleted}
                  checked={chosen.includes(version)}
                  onChange={event => {
                    const rest = chosen.filter(other => other !== version);
                    const isOn = event.currentTarget.checked;
                    onChoose(isOn ? [...rest.slice(-1), version] : rest);
                  }}
                />
              </td>
              <td>
                <button
                  type="button"
                  className="jp-AcaiView-button"
                  aria-label={trans.__('version %1', version)}
                  aria-pressed={version === shown}
                  onClick={() => {
                    onShow(version);
                  }}
                >
                  {version}
                </button>
              </td>
              <td>{isDeleted ? trans.__('deleted') : countOf(one)}</td>
              <td title={fullValue('created_at', { time: one.created_at })}>
                {formatValue('created_at', { time: one.created_at })}
              </td>
              <td>{oneLine(one.creator)}</td>
              <td>{(one.aliases ?? []).map(oneLine).join(', ')}</td>
              <td>{oneLine((one.note ?? '').split('\n')[0] ?? '')}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Shown(
  props: ISetViewProps & {
    shown: IFileSet;
    onAttempt: (work: () => Promise<unknown>) => Promise<void>;
  }
): React.ReactElement {
  const { name, client, shown, onAttempt, onProvenance, onDownload, onUse } =
    props;
  const ref = `${name}:${shown.version}`;
  const isDeleted = typeof shown.deleted_at === 'string';
  if (isDeleted) {
    return (
      <div role="group" aria-label={trans.__('%1, what to do', ref)}>
        <Action
          words={trans.__('bring back %1', ref)}
          onClick={() => {
            void onAttempt(() => client.removeSet(ref, true));
          }}
        />
      </div>
    );
  }
  return (
    <>
      <div role="group" aria-label={trans.__('%1, what to do', ref)}>
        {onUse !== null && (
          <Action
            words={trans.__('use as input')}
            onClick={() => {
              onUse(ref);
            }}
          />
        )}
        <Action
          words={trans.__('provenance')}
          onClick={() => {
            onProvenance(ref);
          }}
        />
        <Action
          words={trans.__('download')}
          onClick={() => {
            onDownload(ref);
          }}
        />
        <SureAction
          words={trans.__('delete')}
          sure={trans.__('yes, delete %1', ref)}
          not={trans.__('keep it')}
          onSure={() => {
            void onAttempt(() => client.removeSet(ref, false));
          }}
        />
      </div>
      {props.about(ref)}
      <Names
        key={ref}
        shown={shown}
        client={client}
        onAttempt={onAttempt}
        onChanged={() => props.versions.refresh()}
      />
      <Contents {...props} setRef={ref} />
    </>
  );
}

/** Aliases and the note, which are all that can be changed of a version beside its attributes. */
function Names(props: {
  shown: IFileSet;
  client: DataClient;
  onAttempt: (work: () => Promise<unknown>) => Promise<void>;
  /** Reads the versions anew. */
  onChanged: () => Promise<unknown>;
}): React.ReactElement {
  const { shown, client, onAttempt, onChanged } = props;
  const { name, version, aliases = [], note = '' } = shown;
  const ref = `${name}:${version}`;
  const [alias, setAlias] = React.useState('');
  return (
    <div className="jp-AcaiData-names" data-lm-suppress-shortcuts="true">
      <Chips
        label={trans.__('Aliases')}
        chips={aliases.map(one => ({
          key: one,
          words: oneLine(one),
          name: trans.__('remove alias %1', oneLine(one)),
          onRemove: () => onAttempt(() => client.removeAlias(name, one))
        }))}
      />
      <input
        className="jp-AcaiFilter-field jp-AcaiLabels-field"
        aria-label={trans.__('Add an alias to %1', ref)}
        placeholder={trans.__('an alias, like: %1', 'paper')}
        value={alias}
        onChange={event => {
          setAlias(event.target.value);
        }}
        onKeyDown={event => {
          if (event.key === 'Enter' && alias.trim() !== '') {
            void onAttempt(() => client.setAlias(ref, alias.trim()));
            setAlias('');
          }
        }}
      />
      <NoteField
        label={trans.__('Note on %1', ref)}
        said={note}
        longest={10_000}
        onKeep={async (words, before) => {
          try {
            await client.setNote(ref, words, before);
          } finally {
            await onChanged();
          }
        }}
      />
    </div>
  );
}

function Contents(
  props: ISetViewProps & { setRef: string }
): React.ReactElement {
  const { setRef, client, stamp, project, onOpenFile, onAgain } = props;
  const [chosen, setChosen] = React.useState<ReadonlySet<string>>(new Set());
  const tree = React.useMemo(
    () => new FileTree((path, after) => client.folder(path, after, setRef)),
    [client, setRef]
  );
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => tree.subscribe(again), [tree]);
  React.useEffect(() => {
    void tree.ask();
  }, [tree, stamp]);
  return (
    <div className="jp-AcaiData-contents">
      <h3>{trans.__('Contents')}</h3>
      <Fault
        words={tree.error?.message ?? ''}
        onAgain={() => {
          tree.insist();
          onAgain();
        }}
      />
      <TreeView
        tree={tree}
        name={trans.__('contents of %1', setRef)}
        chosen={chosen}
        onChoose={setChosen}
        onOpen={row => {
          onOpenFile(row.path, row.child?.version ?? 1);
        }}
        onDrag={({ path, child }, data) => {
          const lines = linesForRow(path, child, project, setRef);
          data.setData('text/plain', lines);
        }}
      />
    </div>
  );
}
