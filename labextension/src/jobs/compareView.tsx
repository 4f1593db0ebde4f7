import * as React from 'react';

import {
  compareJobs,
  type IComparedRow,
  type IWhole
} from '../core/compareJobs';
import { asAcaiError } from '../core/connectionStore';
import type { DataClient } from '../core/dataClient';
import type { PreviewReader } from '../core/previews';
import type { ProjectClient } from '../core/projectClient';
import { trans } from '../core/translation';
import { Fault } from '../views/fault';
import { CodeDifference } from './codeChanges';

export interface ICompareProps {
  before: number;
  after: number;
  client: ProjectClient;
  data: DataClient;
  reader: PreviewReader;
  /** Resolves when it is known whose jobs these are, or that nobody can say. */
  connect: () => Promise<void>;
}

/** Two jobs side by side: what differs, and all of it if somebody asks. */
export function Compare(props: ICompareProps): React.ReactElement {
  const { before, after, client, connect, data, reader } = props;
  const [found, setFound] = React.useState<readonly [IWhole, IWhole] | null>(
    null
  );
  const [failure, setFailure] = React.useState('');
  const [tries, setTries] = React.useState(0);
  React.useEffect(() => {
    let isWanted = true;
    connect()
      .then(() =>
        Promise.all([wholeOf(client, before), wholeOf(client, after)])
      )
      .then(
        ([one, other]) => {
          if (isWanted) {
            setFound([one, other]);
            setFailure('');
          }
        },
        (error: unknown) => {
          if (isWanted) {
            setFailure(asAcaiError(error).message);
          }
        }
      );
    return () => {
      isWanted = false;
    };
  }, [before, after, client, connect, tries]);
  if (failure !== '') {
    return (
      <Fault
        words={failure}
        onAgain={() => {
          setTries(tries + 1);
        }}
      />
    );
  }
  if (found === null) {
    return <p role="status">{trans.__('Asking…')}</p>;
  }
  const [one, other] = found;
  return (
    <>
      <CompareView
        before={before}
        after={after}
        rows={compareJobs(one, other)}
      />
      <CodeDifference
        before={one.job}
        after={other.job}
        data={data}
        reader={reader}
      />
    </>
  );
}

async function wholeOf(client: ProjectClient, number: number): Promise<IWhole> {
  const [job, asked] = await Promise.all([
    client.job(number),
    client.asked(number)
  ]);
  return { job, asked };
}

/** The rows of a comparison; knows nothing of the server. */
export function CompareView(props: {
  before: number;
  after: number;
  rows: readonly IComparedRow[];
}): React.ReactElement {
  const { before, after, rows } = props;
  const [showsAll, setShowsAll] = React.useState(false);
  const same = rows.filter(row => row.isSame).length;
  const shown = showsAll ? rows : rows.filter(row => !row.isSame);
  const groups = [...new Set(shown.map(row => row.group))];
  return (
    <section
      className="jp-AcaiCompare"
      aria-label={trans.__('job %1 and job %2', before, after)}
    >
      <label className="jp-AcaiCompare-all">
        <input
          type="checkbox"
          checked={showsAll}
          onChange={() => {
            setShowsAll(!showsAll);
          }}
        />
        {trans.__('show what is the same too (%1)', same)}
      </label>
      {shown.length === 0 ? (
        <p>{trans.__('Nothing differs.')}</p>
      ) : (
        <table className="jp-AcaiCompare-table">
          <thead>
            <tr>
              <td />
              <th scope="col" data-acai-thing={before}>
                {trans.__('job %1', before)}
              </th>
              <th scope="col" data-acai-thing={after}>
                {trans.__('job %1', after)}
              </th>
            </tr>
          </thead>
          {groups.map(group => (
            <tbody key={group}>
              <tr>
                <th scope="rowgroup" colSpan={3}>
                  {group}
                </th>
              </tr>
              {shown
                .filter(row => row.group === group)
                .map(row => (
                  <tr key={row.name} data-same={row.isSame ? '' : undefined}>
                    <th scope="row">{row.name}</th>
                    <td>{row.before}</td>
                    <td>{row.after}</td>
                  </tr>
                ))}
            </tbody>
          ))}
        </table>
      )}
    </section>
  );
}
