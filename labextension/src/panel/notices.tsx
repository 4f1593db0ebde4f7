import * as React from 'react';

import type { IVersionNote } from '../core/versions';
import { Commands } from './remedy';

export interface INoticesProps {
  version: IVersionNote | null;
  sentences: readonly string[];
}

/** What works but should be known. */
export function Notices(props: INoticesProps): React.ReactElement {
  const { version, sentences } = props;
  return (
    <>
      {version !== null && (
        <div className="jp-AcaiPanel-notice" role="note">
          <p>{version.sentence}</p>
          <Commands lines={[version.command]} />
        </div>
      )}
      {sentences.map(sentence => (
        <div className="jp-AcaiPanel-notice" role="note" key={sentence}>
          <p>{sentence}</p>
        </div>
      ))}
    </>
  );
}
