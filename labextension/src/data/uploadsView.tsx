import * as React from 'react';

import { formatSize } from '../core/format';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import type { Upload } from '../core/upload';
import type { UploadList } from '../core/uploadList';
import { Action } from '../views/action';
import { pickedFiles } from './dropping';
import { sendFiles } from './uploadStart';

/** Buttons that take files and folders, what is on its way, and what was broken off. */
export function UploadsView(props: {
  uploads: UploadList;
  /** Where what is picked goes. */
  folder: string;
}): React.ReactElement {
  const { uploads, folder } = props;
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => uploads.subscribe(again), [uploads]);
  return (
    <div
      className="jp-AcaiData-uploads"
      role="group"
      aria-label={trans.__('uploads')}
      data-lm-suppress-shortcuts="true"
    >
      <PickField
        words={trans.__('upload files')}
        folder={folder}
        uploads={uploads}
      />
      <PickField
        words={trans.__('folder')}
        folder={folder}
        uploads={uploads}
        isFolder
      />
      <span className="jp-AcaiData-hint">
        {trans.__('to %1', oneLine(folder))}
      </span>
      <ul aria-label={trans.__('uploads under way')}>
        {uploads.uploads.map(one => (
          <Row
            key={one.number}
            upload={one}
            onDismiss={() => {
              uploads.dismiss(one);
            }}
          />
        ))}
        {uploads.elsewhere.map(kept => (
          <li key={kept.id} data-phase="elsewhere">
            <span>{oneLine(kept.label)}</span>
            <span className="jp-AcaiData-hint" role="status">
              {trans.__('is under way in another tab')}
            </span>
          </li>
        ))}
        {uploads.brokenOff.map(kept => (
          <li key={kept.id}>
            <span>{oneLine(kept.label)}</span>
            <span className="jp-AcaiData-hint">
              {brokenOff(kept.files, uploads.canTell)}
            </span>
            <Action
              words={trans.__('give up')}
              onClick={() => void uploads.giveUp(kept).catch(() => undefined)}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}

function brokenOff(files: number, canTell: boolean): string {
  const count = files.toLocaleString('en-US');
  return canTell
    ? trans._n(
        'was broken off. Drop or pick the same file again to go on.',
        'was broken off. Drop or pick the same %2 files again to go on.',
        files,
        count
      )
    : trans._n(
        'was broken off, or is under way in another tab. Drop or pick the same file again to go on.',
        'was broken off, or is under way in another tab. Drop or pick the same %2 files again to go on.',
        files,
        count
      );
}

function PickField(props: {
  words: string;
  folder: string;
  uploads: UploadList;
  isFolder?: boolean;
}): React.ReactElement {
  const { words, folder, uploads, isFolder = false } = props;
  const field = React.useRef<HTMLInputElement>(null);
  React.useEffect(() => {
    field.current?.toggleAttribute('webkitdirectory', isFolder);
  }, [isFolder]);
  return (
    <>
      <Action words={words} onClick={() => field.current?.click()} />
      <input
        ref={field}
        type="file"
        multiple
        hidden
        aria-label={
          isFolder
            ? trans.__('A folder to upload')
            : trans.__('Files to upload')
        }
        onChange={event => {
          const given = pickedFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
          if (given.length > 0) {
            sendFiles(uploads, given, folder);
          }
        }}
      />
    </>
  );
}

function Row(props: {
  upload: Upload;
  onDismiss: () => void;
}): React.ReactElement {
  const { upload, onDismiss } = props;
  const { phase, kept, error } = upload;
  const total = Math.max(1, kept.bytes + kept.files);
  const done = upload.doneBytes + upload.doneFiles;
  return (
    <li data-phase={phase}>
      <span>{oneLine(kept.label)}</span>
      {phase === 'sending' && (
        <progress aria-label={oneLine(kept.label)} max={total} value={done} />
      )}
      <span
        className={phase === 'failed' ? 'jp-AcaiView-error' : undefined}
        role={phase === 'failed' ? 'alert' : 'status'}
      >
        {phase === 'failed' ? (error?.message ?? '') : wordsOf(upload)}
      </span>
      {phase === 'sending' && (
        <Action
          words={trans.__('stop')}
          onClick={() => void upload.stop().catch(() => undefined)}
        />
      )}
      {phase === 'failed' && (
        <Action
          words={trans.__('try again')}
          onClick={() => void upload.run()}
        />
      )}
      {phase !== 'sending' && (
        <Action words={trans.__('dismiss')} onClick={onDismiss} />
      )}
    </li>
  );
}

function wordsOf(upload: Upload): string {
  const { phase, kept, doneFiles, doneBytes, result } = upload;
  if (phase === 'stopped') {
    return trans.__('given up');
  }
  const count = (number: number) => number.toLocaleString('en-US');
  return result === null
    ? trans._n(
        '%2 of %3 file · %4 of %5',
        '%2 of %3 files · %4 of %5',
        kept.files,
        count(doneFiles),
        count(kept.files),
        formatSize(doneBytes),
        formatSize(kept.bytes)
      )
    : trans.__(
        '%1 new, %2 unchanged',
        count(result.new_files),
        count(result.unchanged_files)
      );
}
