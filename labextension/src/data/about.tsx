import * as React from 'react';

import type { IMetadata } from '../contract';
import { asAcaiError } from '../core/connectionStore';
import type { DataClient } from '../core/dataClient';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { fullValue } from '../core/values';
import { LabelsEditor } from '../jobs/editing';
import { Fault } from '../views/fault';

/** All that is known of a thing by key: what the system knows, and what people say of it, changed here. */
export function About(props: {
  thing: string;
  client: DataClient;
  /** Raised when something may have changed. */
  stamp: number;
}): React.ReactElement {
  const { thing, client, stamp } = props;
  const [known, setKnown] = React.useState<IMetadata | null>(null);
  const [failure, setFailure] = React.useState('');
  const read = React.useCallback(async () => {
    try {
      const found = await client.metadata(thing);
      setKnown(found);
      setFailure('');
    } catch (error) {
      setFailure(asAcaiError(error).message);
    }
  }, [thing, client]);
  React.useEffect(() => {
    void read();
  }, [read, stamp]);
  return (
    <section
      aria-label={trans.__('about %1', oneLine(thing))}
      className="jp-AcaiData-about"
    >
      <h3>{oneLine(thing)}</h3>
      <Fault words={failure} onAgain={() => void read()} />
      {known?.thing === thing && (
        <>
          <LabelsEditor
            key={thing}
            tags={known.tags}
            attributes={known.attributes}
            onChange={async change => {
              try {
                await client.change({ thing, ...change });
              } finally {
                await read();
              }
            }}
          />
          <dl className="jp-AcaiSections-facts">
            {Object.entries(known.built_in)
              .filter(([, value]) => value !== null)
              .map(([key, value]) => (
                <React.Fragment key={key}>
                  <dt>{oneLine(key)}</dt>
                  <dd>{fullValue(key, value)}</dd>
                </React.Fragment>
              ))}
          </dl>
        </>
      )}
    </section>
  );
}
