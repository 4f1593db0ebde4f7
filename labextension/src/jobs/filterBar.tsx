import * as React from 'react';

import type { ICounted, IKnownKey } from '../contract';
import type { AcaiError } from '../core/errors';
import {
  chosen,
  clauseFor,
  has,
  QUERY_EXAMPLE,
  without,
  wordAt
} from '../core/queryText';
import { headingOf } from '../core/headings';
import { trans } from '../core/translation';
import { formatValue } from '../core/values';

export interface IFilterBarProps {
  query: string;
  error: AcaiError | null;
  onQuery: (query: string) => void;
  /** Keys that begin so. */
  complete: (prefix: string) => Promise<IKnownKey[]>;
  /** Which values of a key there are among the jobs of a query. */
  values: (query: string, key: string) => Promise<ICounted>;
}

/** After so long without a key rows are asked for, which are to be there 200 ms after it. */
const PAUSE_MS = 100;

const FACETS = ['state', 'creator', 'tags', 'template'];

/** Which jobs: a query, what is wrong with it below its column, and values to choose from. */
export function FilterBar(props: IFilterBarProps): React.ReactElement {
  const { query, onQuery } = props;
  const [text, setText] = React.useState(query);
  const timer = React.useRef<ReturnType<typeof setTimeout>>();
  React.useEffect(() => {
    setText(query);
  }, [query]);
  const change = (next: string, isAtOnce: boolean) => {
    setText(next);
    clearTimeout(timer.current);
    if (isAtOnce) {
      onQuery(next);
    } else {
      timer.current = setTimeout(() => {
        onQuery(next);
      }, PAUSE_MS);
    }
  };
  return (
    <div
      className="jp-AcaiFilter"
      role="search"
      data-lm-suppress-shortcuts="true"
    >
      <QueryField
        {...props}
        label={trans.__('Which jobs')}
        placeholder={trans.__('which jobs, like: %1', QUERY_EXAMPLE)}
        text={text}
        onChange={change}
      />
      <div className="jp-AcaiFilter-facets">
        {FACETS.map(key => (
          <Facet
            key={key}
            name={key}
            query={text}
            values={props.values}
            onChoose={clause => {
              change(chosen(text, key, clause), true);
            }}
          />
        ))}
      </div>
    </div>
  );
}

export interface IQueryFieldProps {
  label: string;
  placeholder: string;
  text: string;
  /** What was asked last, of which the fault speaks. */
  query: string;
  error: AcaiError | null;
  complete: (prefix: string) => Promise<IKnownKey[]>;
  onChange: (text: string, isAtOnce: boolean) => void;
}

/** A field for a query: it offers keys, and says what is not understood. */
export function QueryField(props: IQueryFieldProps): React.ReactElement {
  const { text, error, onChange, complete } = props;
  const [keys, setKeys] = React.useState<IKnownKey[]>([]);
  const name = React.useId();
  const field = React.useRef<HTMLInputElement>(null);
  const offer = async (value: string, place: number) => {
    const word = wordAt(value, place);
    setKeys(word === '' ? [] : await complete(word).catch(() => []));
  };
  const take = (key: string) => {
    const place = field.current?.selectionStart ?? text.length;
    const begin = place - wordAt(text, place).length;
    onChange(`${text.slice(0, begin)}${key} ${text.slice(place)}`, false);
    setKeys([]);
    field.current?.focus();
  };
  return (
    <div className="jp-AcaiFilter-query">
      <input
        ref={field}
        type="search"
        className="jp-AcaiFilter-field"
        aria-label={props.label}
        aria-invalid={error !== null}
        aria-describedby={error === null ? undefined : `${name}-fault`}
        placeholder={props.placeholder}
        spellCheck={false}
        value={text}
        onChange={event => {
          const { value, selectionStart } = event.currentTarget;
          onChange(value, false);
          void offer(value, selectionStart ?? value.length);
        }}
        onKeyDown={event => {
          if (event.key === 'Enter') {
            onChange(text, true);
          } else if (event.key === 'Escape' && keys.length > 0) {
            setKeys([]);
            event.stopPropagation();
          }
        }}
      />
      {keys.length > 0 && (
        <ul className="jp-AcaiFilter-keys" aria-label={trans.__('Keys')}>
          {keys.map(({ key, type }) => (
            <li key={key}>
              <button
                type="button"
                onClick={() => {
                  take(key);
                }}
              >
                {key}
                <span> {type ?? ''}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {error !== null && (
        <Fault id={`${name}-fault`} error={error} text={props.query} />
      )}
    </div>
  );
}

/** What is wrong, with a mark below the column that it speaks of. */
function Fault(props: {
  id: string;
  error: AcaiError;
  text: string;
}): React.ReactElement {
  const { id, error, text } = props;
  const column = columnOf(error);
  return (
    <div className="jp-AcaiFilter-fault">
      {column !== null && (
        <pre aria-hidden="true">{`${text}\n${' '.repeat(column - 1)}^`}</pre>
      )}
      <p id={id} role="alert">
        {error.message.split('\n')[0]}
      </p>
    </div>
  );
}

export function columnOf(error: AcaiError): number | null {
  const column = error.details.column;
  return typeof column === 'number' && column >= 1 ? column : null;
}

/** A button that opens the values of a key; each that is chosen is a condition of the query. */
function Facet(props: {
  name: string;
  query: string;
  values: (query: string, key: string) => Promise<ICounted>;
  onChoose: (clause: string) => void;
}): React.ReactElement {
  const { name, query, values, onChoose } = props;
  const [found, setFound] = React.useState<ICounted | null>(null);
  const [failure, setFailure] = React.useState('');
  const [isOpen, setOpen] = React.useState(false);
  React.useEffect(() => {
    if (!isOpen) {
      return undefined;
    }
    let isWanted = true;
    values(without(query, name), name).then(
      counted => {
        if (isWanted) {
          setFound(counted);
          setFailure('');
        }
      },
      (error: unknown) => {
        if (isWanted) {
          setFailure(error instanceof Error ? error.message : String(error));
        }
      }
    );
    return () => {
      isWanted = false;
    };
  }, [isOpen, query, name, values]);
  const offered = found?.facets?.[0]?.values ?? [];
  return (
    <details
      className="jp-AcaiFilter-facet"
      open={isOpen}
      onToggle={event => {
        setOpen(event.currentTarget.open);
      }}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          setOpen(false);
          event.stopPropagation();
        }
      }}
    >
      <summary>{headingOf(name)}</summary>
      <div className="jp-AcaiFilter-values">
        {failure !== '' && <p role="alert">{failure}</p>}
        {failure === '' && offered.length === 0 && (
          <p>{found === null ? trans.__('Asking…') : trans.__('No values.')}</p>
        )}
        {offered.map(({ value, count }) => {
          if (typeof value === 'object') {
            return null;
          }
          const clause = clauseFor(name, value);
          return (
            <label key={clause}>
              <input
                type="checkbox"
                checked={has(query, clause)}
                onChange={() => {
                  onChoose(clause);
                }}
              />
              {formatValue(name, value)}
              <span>{count.toLocaleString('en-US')}</span>
            </label>
          );
        })}
      </div>
    </details>
  );
}
