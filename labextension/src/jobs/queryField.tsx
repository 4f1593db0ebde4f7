import * as React from 'react';

import type { IKnownKey } from '../contract';
import type { AcaiError } from '../core/errors';
import { completed, wordAt } from '../core/queryText';
import { trans } from '../core/translation';
import { QueryFault } from './queryFault';

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

/** A field for a query: it offers keys, which arrows go to and Enter takes, and says what is not understood. */
export function QueryField(props: IQueryFieldProps): React.ReactElement {
  const { text, error, onChange, complete } = props;
  const { keys, at, setAt, offer, putAway } = useOffers(complete);
  const name = React.useId();
  const field = React.useRef<HTMLInputElement>(null);
  const caret = React.useRef<number | null>(null);
  React.useLayoutEffect(() => {
    if (caret.current !== null) {
      field.current?.setSelectionRange(caret.current, caret.current);
      caret.current = null;
    }
  }, [text]);
  const take = (key: string) => {
    const done = completed(
      text,
      field.current?.selectionStart ?? text.length,
      key
    );
    if (done.text === text) {
      field.current?.setSelectionRange(done.place, done.place);
    } else {
      caret.current = done.place;
    }
    onChange(done.text, false);
    putAway();
  };
  const press = (event: React.KeyboardEvent) => {
    const chosen = keys[at]?.key;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter' && chosen === undefined) {
      putAway();
      onChange(text, true);
    } else if (keys.length === 0) {
      return;
    } else if (event.key === 'Enter' && chosen !== undefined) {
      take(chosen);
    } else if (event.key === 'Escape') {
      putAway();
      event.stopPropagation();
    } else if (step !== undefined) {
      const places = keys.length + 1;
      setAt(((at + 1 + step + places) % places) - 1);
    } else {
      return;
    }
    event.preventDefault();
  };
  const isOpen = keys.length > 0;
  return (
    <div className="jp-AcaiFilter-query">
      <input
        ref={field}
        type="search"
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={isOpen ? `${name}-keys` : undefined}
        aria-activedescendant={at >= 0 ? `${name}-${at}` : undefined}
        className="jp-AcaiFilter-field"
        aria-label={props.label}
        aria-invalid={error !== null}
        aria-describedby={error === null ? undefined : `${name}-fault`}
        placeholder={props.placeholder}
        spellCheck={false}
        autoComplete="off"
        value={text}
        onChange={event => {
          const { value, selectionStart } = event.currentTarget;
          caret.current = null;
          onChange(value, false);
          offer(wordAt(value, selectionStart ?? value.length));
        }}
        onKeyDown={press}
        onBlur={putAway}
      />
      {isOpen && (
        <ul
          id={`${name}-keys`}
          role="listbox"
          className="jp-AcaiFilter-keys"
          aria-label={trans.__('Keys')}
          onMouseDown={event => {
            // The field keeps the focus, with which the list stays.
            event.preventDefault();
          }}
        >
          {keys.map(({ key, type }, place) => (
            <Offer
              key={key}
              id={`${name}-${place}`}
              words={key}
              type={type ?? ''}
              isActive={place === at}
              onTake={() => {
                take(key);
              }}
            />
          ))}
        </ul>
      )}
      {error !== null && (
        <QueryFault id={`${name}-fault`} error={error} text={props.query} />
      )}
    </div>
  );
}

function Offer(props: {
  id: string;
  words: string;
  type: string;
  isActive: boolean;
  onTake: () => void;
}): React.ReactElement {
  const { id, words, type, isActive, onTake } = props;
  const node = React.useRef<HTMLLIElement>(null);
  React.useEffect(() => {
    if (isActive) {
      node.current?.scrollIntoView({ block: 'nearest' });
    }
  }, [isActive]);
  return (
    <li
      ref={node}
      id={id}
      role="option"
      aria-selected={isActive}
      onClick={onTake}
    >
      {words}
      <span> {type}</span>
    </li>
  );
}

/** Keys that begin with a word, and which of them is gone to. Only the answer to the last question counts, until put away. */
function useOffers(complete: IQueryFieldProps['complete']): {
  keys: readonly IKnownKey[];
  at: number;
  setAt: (at: number) => void;
  offer: (word: string) => void;
  putAway: () => void;
} {
  const [keys, setKeys] = React.useState<readonly IKnownKey[]>([]);
  const [at, setAt] = React.useState(-1);
  const question = React.useRef(0);
  const show = (found: readonly IKnownKey[]) => {
    setKeys(found);
    setAt(-1);
  };
  const putAway = () => {
    question.current += 1;
    show([]);
  };
  const offer = (word: string) => {
    const asked = (question.current += 1);
    if (word === '') {
      show([]);
      return;
    }
    complete(word).then(
      found => {
        if (asked === question.current) {
          show(found);
        }
      },
      () => undefined
    );
  };
  return { keys, at, setAt, offer, putAway };
}
