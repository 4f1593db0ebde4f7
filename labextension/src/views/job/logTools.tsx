import * as React from 'react';

import type { IFoundLines } from '../../contract';
import { asAcaiError } from '../../core/connectionStore';
import { download } from '../../provenance/files';
import { trans } from '../../core/translation';

/** What can be done with a log as it is shown, and as a whole. */
export function LogTools(props: {
  job: number;
  attempt: number;
  wraps: boolean;
  onWrap: (wraps: boolean) => void;
  onEnd: () => void;
  /** The whole log, byte for byte. */
  read: () => Promise<Blob>;
}): React.ReactElement {
  const { job, attempt, wraps, onWrap, onEnd, read } = props;
  const [failure, setFailure] = React.useState('');
  const save = async () => {
    setFailure('');
    try {
      download(`job-${job}-attempt-${attempt}.log`, await read());
    } catch (error) {
      setFailure(asAcaiError(error).message);
    }
  };
  return (
    <>
      <button
        type="button"
        className="jp-AcaiView-button"
        aria-label={trans.__('wrap, the log of job %1', job)}
        aria-pressed={wraps}
        onClick={() => {
          onWrap(!wraps);
        }}
      >
        {trans.__('wrap')}
      </button>
      <button
        type="button"
        className="jp-AcaiView-button"
        aria-label={trans.__('to the end, the log of job %1', job)}
        onClick={onEnd}
      >
        {trans.__('to the end')}
      </button>
      <button
        type="button"
        className="jp-AcaiView-button"
        aria-label={trans.__('download, the log of job %1', job)}
        onClick={() => void save()}
      >
        {trans.__('download')}
      </button>
      {failure !== '' && (
        <span className="jp-AcaiView-error" role="alert">
          {failure}
        </span>
      )}
    </>
  );
}

/** From one line that has what was searched for to another, and whether only these are there. */
export function HitButtons(props: {
  job: number;
  onlyHits: boolean;
  onOnlyHits: (onlyHits: boolean) => void;
  onGo: (by: 1 | -1) => void;
}): React.ReactElement {
  const { job, onlyHits, onOnlyHits, onGo } = props;
  return (
    <>
      <button
        type="button"
        className="jp-AcaiView-button"
        aria-label={trans.__('previous, the log of job %1', job)}
        onClick={() => {
          onGo(-1);
        }}
      >
        {trans.__('previous')}
      </button>
      <button
        type="button"
        className="jp-AcaiView-button"
        aria-label={trans.__('next, the log of job %1', job)}
        onClick={() => {
          onGo(1);
        }}
      >
        {trans.__('next')}
      </button>
      <button
        type="button"
        className="jp-AcaiView-button"
        aria-label={trans.__('only what is found, the log of job %1', job)}
        aria-pressed={onlyHits}
        onClick={() => {
          onOnlyHits(!onlyHits);
        }}
      >
        {trans.__('only what is found')}
      </button>
    </>
  );
}

/** Goes to the first line that tells of an error. */
export function FirstError(props: {
  job: number;
  find: () => Promise<IFoundLines>;
  onFound: (line: number) => void;
}): React.ReactElement {
  const { job, find, onFound } = props;
  const [answer, setAnswer] = React.useState('');
  const look = async () => {
    setAnswer('');
    try {
      const line = (await find()).lines[0];
      if (line === undefined) {
        setAnswer(trans.__('no line tells of an error'));
      } else {
        onFound(line.number);
      }
    } catch (error) {
      setAnswer(asAcaiError(error).message);
    }
  };
  return (
    <>
      <button
        type="button"
        className="jp-AcaiView-button"
        aria-label={trans.__('first error, the log of job %1', job)}
        onClick={() => void look()}
      >
        {trans.__('first error')}
      </button>
      <span className="jp-AcaiLog-count" role="status">
        {answer}
      </span>
    </>
  );
}

/** The address of a marked line, to be opened or copied. */
export function LineLink(props: {
  line: number;
  address: string;
}): React.ReactElement {
  const { line, address } = props;
  const [copied, setCopied] = React.useState('');
  return (
    <>
      <a href={address} target="_blank" rel="noopener">
        {trans.__('link to line %1', line)}
      </a>
      <button
        type="button"
        className="jp-AcaiView-button"
        onClick={() => {
          void navigator.clipboard.writeText(address).then(() => {
            setCopied(address);
          });
        }}
      >
        {copied === address ? trans.__('copied') : trans.__('copy link')}
      </button>
    </>
  );
}
