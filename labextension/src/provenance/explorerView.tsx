import * as React from 'react';

import type { IExportFormat } from '../contract';
import type { GraphExplorer } from '../core/graphExplorer';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { Fault } from '../views/fault';
import { Sentence } from '../views/sentence';
import { AboutNode } from './aboutNode';
import type { IGraphAnswers } from './answers';
import { ExportField } from './exportField';
import { Picture } from './picture';

const PUT_LINE = '%acai put FOLDER /path --as NAME';
const FILTER_EXAMPLE = 'accuracy > 0.9';
const ZOOMS = [0.4, 0.6, 0.8, 1, 1.25, 1.6, 2];

/** The graph, what it is filtered by, and beside it all that is known of what is selected. */
export function ExplorerView(props: {
  explorer: GraphExplorer;
  onExport: (format: IExportFormat) => Promise<string>;
  ask: IGraphAnswers;
  onAgain: () => void;
  onOpenJob: (job: number) => void;
  onOpenSet: (ref: string) => void;
}): React.ReactElement {
  const { explorer, onExport, ask, onAgain, onOpenJob, onOpenSet } = props;
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => explorer.subscribe(again), [explorer]);
  const [zoom, setZoom] = React.useState(1);
  const { drawing, error, place } = explorer;
  return (
    <section
      aria-label={trans.__('provenance')}
      className="jp-AcaiProvenance-explorer"
    >
      <div
        className="jp-AcaiProvenance-bar"
        role="group"
        aria-label={trans.__('what is drawn')}
        data-lm-suppress-shortcuts="true"
      >
        <BarButton
          words={trans.__('back')}
          isOff={!explorer.canGoBack}
          onClick={() => void explorer.goBack()}
        />
        <BarButton
          words={trans.__('whole project')}
          isOff={place.focus === '' && place.before === null}
          onClick={() => void explorer.show('')}
        />
        {(drawing?.next ?? null) !== null && (
          <BarButton
            words={trans.__('older')}
            onClick={() => void explorer.older()}
          />
        )}
        <NameField explorer={explorer} />
        <QueryField explorer={explorer} key={place.query} />
        <Zoom zoom={zoom} onZoom={setZoom} />
        {drawing !== null && (
          <ExportField
            drawing={drawing}
            focus={place.focus}
            onExport={onExport}
          />
        )}
      </div>
      <p className="jp-AcaiProvenance-title" role="status">
        {oneLine(drawing?.title ?? (error === null ? trans.__('Asking…') : ''))}
        {drawing?.is_cut === true &&
          ` ${trans.__('There is more than can be drawn.')}`}
      </p>
      <Fault words={error?.message ?? ''} onAgain={onAgain} />
      {drawing !== null && (
        <div className="jp-AcaiProvenance-body">
          {drawing.nodes.length === 0 ? (
            <p className="jp-AcaiProvenance-empty">
              <Sentence
                text={trans.__(
                  'There are no file sets yet. Make one with %1.',
                  '%1'
                )}
                parts={[<code key="put">{PUT_LINE}</code>]}
              />
            </p>
          ) : (
            <Picture drawing={drawing} explorer={explorer} zoom={zoom} />
          )}
          <AboutNode
            explorer={explorer}
            ask={ask}
            onOpenJob={onOpenJob}
            onOpenSet={onOpenSet}
          />
        </div>
      )}
    </section>
  );
}

function BarButton(props: {
  words: string;
  name?: string;
  isOff?: boolean;
  onClick: () => void;
}): React.ReactElement {
  const { words, name, isOff = false, onClick } = props;
  return (
    <button
      type="button"
      className="jp-AcaiView-button"
      aria-label={name}
      // Not `disabled`, which would take the keyboard's focus away.
      aria-disabled={isOff}
      onClick={isOff ? undefined : onClick}
    >
      {words}
    </button>
  );
}

function NameField(props: { explorer: GraphExplorer }): React.ReactElement {
  const [text, setText] = React.useState('');
  const [isMissing, setMissing] = React.useState(false);
  return (
    <input
      type="search"
      className="jp-AcaiFilter-field"
      aria-label={trans.__('Find by name')}
      placeholder={trans.__('find by name')}
      aria-invalid={isMissing}
      value={text}
      onChange={event => {
        setText(event.target.value);
        setMissing(false);
      }}
      onKeyDown={event => {
        if (event.key === 'Enter') {
          setMissing(!props.explorer.find(text) && text.trim() !== '');
        }
      }}
    />
  );
}

function QueryField(props: { explorer: GraphExplorer }): React.ReactElement {
  const { explorer } = props;
  const [text, setText] = React.useState(explorer.place.query);
  return (
    <input
      type="search"
      className="jp-AcaiFilter-field"
      aria-label={trans.__('Fade what this is not true of')}
      placeholder={FILTER_EXAMPLE}
      value={text}
      onChange={event => {
        setText(event.target.value);
      }}
      onKeyDown={event => {
        if (event.key === 'Enter') {
          void explorer.filter(text);
        }
      }}
    />
  );
}

function Zoom(props: {
  zoom: number;
  onZoom: (zoom: number) => void;
}): React.ReactElement {
  const { zoom, onZoom } = props;
  const at = ZOOMS.indexOf(zoom);
  const step = (by: number) => () => {
    onZoom(ZOOMS[at + by] ?? zoom);
  };
  return (
    <span role="group" aria-label={trans.__('size')}>
      <BarButton
        words="−"
        name={trans.__('smaller')}
        isOff={at === 0}
        onClick={step(-1)}
      />
      <BarButton
        words="+"
        name={trans.__('larger')}
        isOff={at === ZOOMS.length - 1}
        onClick={step(1)}
      />
    </span>
  );
}
