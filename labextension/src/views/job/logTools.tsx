import * as React from 'react';

import { asAcaiError } from '../../core/connectionStore';
import { download } from '../../provenance/files';
import { trans } from '../../core/translation';

/** What can be done with a log as it is shown, and as a whole. */
export function LogTools(props: {
  job: number;
  attempt: number;
  wraps: boolean;
  onWrap: (wraps: boolean) => void;
  /** The whole log, byte for byte. */
  read: () => Promise<Blob>;
}): React.ReactElement {
  const { job, attempt, wraps, onWrap, read } = props;
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
