import * as React from 'react';

import type { IDrawing, IExportFormat } from '../contract';
import type { GraphExplorer } from '../core/graphExplorer';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { Action } from '../views/action';
import { Sentence } from '../views/sentence';
import { AboutNode } from './aboutNode';
import type { IGraphAnswers } from './answers';
import { ExportField } from './exportField';
import { NODE_STOP, Picture } from './picture';

const PUT_LINE = '%acai put FOLDER /path --as NAME';
const FILTER_EXAMPLE = 'accuracy > 0.9';
const ZOOMS = [0.4, 0.6, 0.8, 1, 1.25, 1.6, 2];
/** Nothing can be read of what is smaller. */
const LEAST_ZOOM = 0.1;

/** The graph, what it is filtered by, and beside it all that is known of what is selected. */
export function ExplorerView(props: {
  explorer: GraphExplorer;
  onExport: (format: IExportFormat, ref: string) => Promise<string>;
  ask: IGraphAnswers;
  onAgain: () => void;
  onOpenJob: ((job: number) => void) | null;
  onOpenSet: ((ref: string) => void) | null;
}): React.ReactElement {
  const { explorer, onExport, ask, onAgain, onOpenJob, onOpenSet } = props;
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => explorer.subscribe(again), [explorer]);
  const [zoom, setZoom] = React.useState(1);
  const scroller = React.useRef<HTMLDivElement>(null);
  const { drawing, error, place, isAsking } = explorer;
  const { pages } = place;
  const hasOlder = (drawing?.next ?? null) !== null;
  return (
    <section
      ref={useHeldFocus()}
      aria-busy={isAsking}
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
          isOff={drawing !== null && place.focus === '' && pages.length === 0}
          onClick={() => void explorer.show('')}
        />
        {pages.length > 0 && (
          <BarButton
            words={trans.__('newer')}
            onClick={() => void explorer.newer()}
          />
        )}
        {hasOlder && (
          <BarButton
            words={trans.__('older')}
            onClick={() => void explorer.older()}
          />
        )}
        <NameField explorer={explorer} />
        <QueryField explorer={explorer} />
        <Zoom
          zoom={zoom}
          onZoom={setZoom}
          fitting={() => fitting(drawing, scroller.current)}
        />
        {drawing !== null && (
          <ExportField
            drawing={drawing}
            focus={place.focus}
            onExport={onExport}
          />
        )}
      </div>
      <p className="jp-AcaiProvenance-title" role="status">
        {oneLine(drawing?.title ?? '')}
        {(pages.length > 0 || hasOlder) &&
          ` · ${trans.__('page %1', pages.length + 1)}`}
        {drawing?.is_cut === true &&
          ` ${trans.__('There is more than can be drawn.')}`}
        {isAsking && (
          <span className="jp-AcaiProvenance-asking">
            {` ${trans.__('Asking…')}`}
          </span>
        )}
      </p>
      {error !== null && (
        <Trouble
          words={error.message}
          onAgain={explorer.canAskAgain ? onAgain : null}
        />
      )}
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
            <Picture
              drawing={drawing}
              explorer={explorer}
              zoom={zoom}
              scroller={scroller}
            />
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

/** What is wrong, and below it the lines that show where. */
function Trouble(props: {
  words: string;
  onAgain: (() => void) | null;
}): React.ReactElement {
  const { words, onAgain } = props;
  const [sentence = '', ...lines] = words.split('\n');
  return (
    <div className="jp-AcaiView-fault">
      <div className="jp-AcaiView-error" role="alert">
        <p>{sentence}</p>
        {lines.length > 0 && <pre>{lines.join('\n')}</pre>}
      </div>
      {onAgain !== null && (
        <Action words={trans.__('Try again')} onClick={onAgain} />
      )}
    </div>
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
  const { explorer } = props;
  const [text, setText] = React.useState('');
  const missing = explorer.missing === text.trim() ? explorer.missing : '';
  return (
    <>
      <input
        type="search"
        className="jp-AcaiFilter-field"
        aria-label={trans.__('Find by name')}
        placeholder={trans.__('find by name')}
        aria-invalid={missing !== ''}
        value={text}
        onChange={event => {
          setText(event.target.value);
        }}
        onKeyDown={event => {
          if (event.key === 'Enter') {
            void explorer.find(text);
          }
        }}
      />
      {missing !== '' && (
        <span className="jp-AcaiView-error" role="alert">
          {trans.__('No file set and no job is called “%1”.', oneLine(missing))}
        </span>
      )}
    </>
  );
}

function QueryField(props: { explorer: GraphExplorer }): React.ReactElement {
  const { explorer } = props;
  const { query } = explorer.place;
  const [text, setText] = React.useState(query);
  const known = React.useRef(query);
  React.useEffect(() => {
    // What was asked for here is answered while somebody may already type the next.
    if (query !== known.current) {
      known.current = query;
      setText(query);
    }
  }, [query]);
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
          known.current = text.trim();
          void explorer.filter(text);
        }
      }}
    />
  );
}

function Zoom(props: {
  zoom: number;
  onZoom: (zoom: number) => void;
  /** At which all of the drawing is seen. */
  fitting: () => number;
}): React.ReactElement {
  const { zoom, onZoom, fitting } = props;
  const smaller = ZOOMS.filter(one => one < zoom).at(-1);
  const larger = ZOOMS.find(one => one > zoom);
  return (
    <span role="group" aria-label={trans.__('size')}>
      <BarButton
        words="−"
        name={trans.__('smaller')}
        isOff={smaller === undefined}
        onClick={() => {
          onZoom(smaller ?? zoom);
        }}
      />
      <BarButton
        words="+"
        name={trans.__('larger')}
        isOff={larger === undefined}
        onClick={() => {
          onZoom(larger ?? zoom);
        }}
      />
      <BarButton
        words={trans.__('fit')}
        onClick={() => {
          onZoom(fitting());
        }}
      />
    </span>
  );
}

/** How large a drawing is when all of it is in view; larger than it was drawn it does not get. */
function fitting(drawing: IDrawing | null, view: Element | null): number {
  if (drawing === null || view === null) {
    return 1;
  }
  const style = getComputedStyle(view);
  const wide = view.clientWidth - 2 * parseFloat(style.paddingLeft);
  const high = view.clientHeight - 2 * parseFloat(style.paddingTop);
  const zoom = Math.min(wide / drawing.width, high / drawing.height, 1);
  return Math.max(LEAST_ZOOM, zoom);
}

/** Where what had the focus goes, as what was pressed has done its work, the node takes it on which one is. */
function useHeldFocus(): React.RefObject<HTMLElement> {
  const part = React.useRef<HTMLElement>(null);
  const held = React.useRef<EventTarget | null>(null);
  React.useEffect(() => {
    const hold = (event: FocusEvent) => {
      held.current = event.target;
    };
    const node = part.current;
    node?.addEventListener('focusin', hold);
    return () => {
      node?.removeEventListener('focusin', hold);
    };
  }, []);
  React.useEffect(() => {
    const { current } = held;
    const isGone = current instanceof Node && !current.isConnected;
    if (isGone && document.activeElement === document.body) {
      held.current = null;
      part.current?.querySelector<HTMLElement>(NODE_STOP)?.focus();
    }
  });
  return part;
}
