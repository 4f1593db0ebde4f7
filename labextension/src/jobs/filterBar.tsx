import * as React from 'react';

import type { ICounted, IKnownKey } from '../contract';
import type { AcaiError } from '../core/errors';
import { headingOf } from '../core/headings';
import {
  chosen,
  clauseFor,
  has,
  QUERY_EXAMPLE,
  without
} from '../core/queryText';
import { trans } from '../core/translation';
import { formatValue } from '../core/values';
import { Popover } from './popover';
import { QueryField } from './queryField';

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
            onChoose={value => {
              change(chosen(text, key, value), true);
            }}
          />
        ))}
      </div>
    </div>
  );
}

/** A button that opens the values of a key; those that are chosen are a condition of the query. */
function Facet(props: {
  name: string;
  query: string;
  values: (query: string, key: string) => Promise<ICounted>;
  onChoose: (value: string | number | boolean) => void;
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
    <Popover words={headingOf(name)} isOpen={isOpen} onOpen={setOpen}>
      {failure !== '' && <p role="alert">{failure}</p>}
      {failure === '' && offered.length === 0 && (
        <p>{found === null ? trans.__('Asking…') : trans.__('No values.')}</p>
      )}
      {offered.map(({ value, count }) =>
        typeof value === 'object' ? null : (
          <label key={clauseFor(name, value)}>
            <input
              type="checkbox"
              checked={has(query, name, value)}
              onChange={() => {
                onChoose(value);
              }}
            />
            {formatValue(name, value)}
            <span>{count.toLocaleString('en-US')}</span>
          </label>
        )
      )}
    </Popover>
  );
}
