import * as React from 'react';

import type { IMetadata } from '../contract';
import { wholeName } from '../core/drawnNodes';
import type { GraphExplorer } from '../core/graphExplorer';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { fullValue, type Value } from '../core/values';
import { LabelsEditor } from '../jobs/editing';
import { Action } from '../views/action';
import { Answers, type IGraphAnswers } from './answers';

/** All that is known of the selected node, changed where it stands, and what can be done with it. */
export function AboutNode(props: {
  explorer: GraphExplorer;
  ask: IGraphAnswers;
  /** Null where nothing on the page shows jobs, or file sets. */
  onOpenJob: ((job: number) => void) | null;
  onOpenSet: ((ref: string) => void) | null;
}): React.ReactElement {
  const { explorer, ask, onOpenJob, onOpenSet } = props;
  const { selected, known, place, pathFrom } = explorer;
  if (selected === null) {
    return (
      <aside
        aria-label={trans.__('selected')}
        className="jp-AcaiProvenance-about"
      >
        <p>{trans.__('Select a node to see what is known of it.')}</p>
      </aside>
    );
  }
  const thing = selected.thing ?? '';
  const isSet = selected.kind === 'file-set';
  return (
    <aside
      aria-label={trans.__('selected')}
      className="jp-AcaiProvenance-about"
    >
      <h2>{oneLine(wholeName(selected))}</h2>
      <p>{oneLine(selected.about)}</p>
      <div role="group" aria-label={trans.__('what to do')}>
        {thing !== '' && thing !== place.focus && (
          <Action
            words={trans.__('show around it')}
            onClick={() => void explorer.show(thing)}
          />
        )}
        {selected.kind === 'job' && onOpenJob !== null && (
          <Action
            words={trans.__('open job')}
            onClick={() => {
              onOpenJob(Number(thing));
            }}
          />
        )}
        {isSet && thing !== '' && onOpenSet !== null && (
          <Action
            words={trans.__('open file set')}
            onClick={() => {
              onOpenSet(thing);
            }}
          />
        )}
        {isSet && pathFrom !== thing && (
          <Action
            words={trans.__('path from here')}
            onClick={() => {
              explorer.startPath();
            }}
          />
        )}
        {isSet && pathFrom !== '' && pathFrom !== thing && (
          <Action
            words={trans.__('path from %1', oneLine(pathFrom))}
            onClick={() => void explorer.endPath()}
          />
        )}
      </div>
      {isSet && pathFrom === thing && (
        <p role="note">
          {trans.__(
            'Now select the file set where the path is to end, or that is to be compared.'
          )}
        </p>
      )}
      {isSet && thing !== '' && (
        <Answers
          key={thing}
          thing={thing}
          other={pathFrom}
          ask={ask}
          onShow={one => void explorer.show(one)}
        />
      )}
      {known !== null && <Facts known={known} explorer={explorer} />}
    </aside>
  );
}

function Facts(props: {
  known: IMetadata;
  explorer: GraphExplorer;
}): React.ReactElement {
  const { known, explorer } = props;
  const { attributes, parameters = {}, built_in, tags } = known;
  const facts: [string, Value][] = [
    ...Object.entries(parameters),
    ...Object.entries(built_in).filter(([, value]) => value !== null)
  ];
  return (
    <>
      <LabelsEditor
        key={known.thing}
        tags={tags}
        attributes={attributes}
        onChange={change => explorer.tag(change)}
      />
      <dl className="jp-AcaiSections-facts">
        {facts.map(([key, value]) => (
          <React.Fragment key={key}>
            <dt>{oneLine(key)}</dt>
            <dd>{fullValue(key, value)}</dd>
          </React.Fragment>
        ))}
      </dl>
    </>
  );
}
