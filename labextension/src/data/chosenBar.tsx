import * as React from 'react';

import type { ChosenFiles } from '../core/chosenFiles';
import { asAcaiError } from '../core/connectionStore';
import type { DataClient } from '../core/dataClient';
import { filesBelow, removeAll } from '../core/fileRemoval';
import { encodePath, fileSpec } from '../core/specText';
import { trans } from '../core/translation';
import { Action, SureAction } from '../views/action';

export interface IChosenBarProps {
  files: ChosenFiles;
  client: DataClient;
  /** The newest version of a file; null of what is none. */
  versionOf: (path: string) => number | null;
  onPreview: (path: string, version: number) => void;
  onMade: (name: string) => void;
  /** Keep what these specs name, on the disk of whoever looks. */
  onDownload: (specs: readonly string[]) => void;
}

/** What can be done with the files and folders that are chosen. */
export function ChosenBar(props: IChosenBarProps): React.ReactElement | null {
  const { files, client, versionOf, onPreview, onMade, onDownload } = props;
  const chosen = [...files.paths];
  const { deleted } = files;
  const [isNaming, setNaming] = React.useState(false);
  const [told, setTold] = React.useState('');
  const [failure, setFailure] = React.useState('');
  const attempt = async (work: () => Promise<string>) => {
    setFailure('');
    try {
      setTold(await work());
      setNaming(false);
    } catch (error) {
      setFailure(asAcaiError(error).message);
    }
  };
  const act = (paths: readonly string[], undo: boolean) =>
    removeAll(client, paths, undo, done => {
      setTold(trans.__('%1 of %2', done, paths.length));
    });
  const [only] = chosen;
  const version =
    chosen.length === 1 && only !== undefined ? versionOf(only) : null;
  const many = trans._n('%1 chosen', '%1 chosen', chosen.length);
  return (
    <div
      className="jp-AcaiData-chosen"
      role="group"
      aria-label={trans.__('chosen files')}
      data-lm-suppress-shortcuts="true"
    >
      <span role="status">
        {[chosen.length > 0 ? many : '', told || deletedWords(deleted.length)]
          .filter(part => part !== '')
          .join(' · ')}
      </span>
      {version !== null && only !== undefined && (
        <Action
          words={trans.__('preview')}
          onClick={() => {
            onPreview(only, version);
          }}
        />
      )}
      {chosen.length > 0 && !isNaming && (
        <Action
          words={trans.__('download')}
          onClick={() => {
            onDownload(chosen.map(path => sourceOf(path, versionOf)));
          }}
        />
      )}
      {chosen.length > 0 && !isNaming && (
        <Action
          words={trans.__('make a set')}
          onClick={() => {
            setNaming(true);
          }}
        />
      )}
      {chosen.length > 0 && isNaming && (
        <NameField
          onCancel={() => {
            setNaming(false);
          }}
          onName={name =>
            void attempt(async () => {
              const sources = chosen.map(path => sourceOf(path, versionOf));
              const made = await client.createSet(name, sources);
              onMade(made.file_set.name);
              const ref = `${made.file_set.name}:${made.file_set.version}`;
              return made.is_new ? ref : trans.__('%1 holds that already', ref);
            })
          }
        />
      )}
      {chosen.length > 0 && !isNaming && (
        <SureAction
          words={trans.__('delete')}
          sure={sureWords(chosen)}
          not={trans.__('keep')}
          onSure={() =>
            void attempt(async () => {
              const asked = await filesBelow(client, chosen);
              const { done, kept } = await act(asked, false);
              files.remove(asked, done);
              setFailure(kept.join(' '));
              return deletedWords(done.length);
            })
          }
        />
      )}
      {deleted.length > 0 && (
        <Action
          words={trans.__('undo')}
          onClick={() =>
            void attempt(async () => {
              const { done, kept } = await act(deleted, true);
              files.restore(deleted, done);
              setFailure(kept.join(' '));
              return trans._n(
                '%1 brought back',
                '%1 brought back',
                done.length
              );
            })
          }
        />
      )}
      {files.isRefused && (
        <Action
          words={trans.__('dismiss')}
          onClick={() => {
            setTold('');
            setFailure('');
            files.dismiss();
          }}
        />
      )}
      {failure !== '' && (
        <span className="jp-AcaiView-error" role="alert">
          {failure}
        </span>
      )}
    </div>
  );
}

function deletedWords(count: number): string {
  return count === 0 ? '' : trans._n('%1 deleted', '%1 deleted', count);
}

/** What is asked before it is done. */
function sureWords(chosen: readonly string[]): string {
  const folders = chosen.filter(path => path.endsWith('/')).length;
  if (folders > 0) {
    return trans._n(
      'yes, delete it with all files in it',
      'yes, delete the %1 with all files in them',
      chosen.length
    );
  }
  return chosen.length === 1
    ? trans.__('yes, delete it')
    : trans._n('yes, delete %1 file', 'yes, delete %1 files', chosen.length);
}

/** A file in the version that was seen, in the newest where its folder was closed since; a folder as it is. */
function sourceOf(
  path: string,
  versionOf: (path: string) => number | null
): string {
  const version = versionOf(path);
  return version === null ? encodePath(path) : fileSpec(path, version);
}

function NameField(props: {
  onName: (name: string) => void;
  onCancel: () => void;
}): React.ReactElement {
  const { onName, onCancel } = props;
  const [name, setName] = React.useState('');
  const field = React.useRef<HTMLInputElement>(null);
  React.useEffect(() => {
    field.current?.focus();
  }, []);
  return (
    <input
      ref={field}
      className="jp-AcaiFilter-field"
      aria-label={trans.__('Name of the file set')}
      placeholder={trans.__('its name; Enter makes it')}
      value={name}
      onChange={event => {
        setName(event.target.value);
      }}
      onKeyDown={event => {
        if (event.key === 'Enter' && name.trim() !== '') {
          onName(name.trim());
        } else if (event.key === 'Escape') {
          event.stopPropagation();
          onCancel();
        }
      }}
    />
  );
}
