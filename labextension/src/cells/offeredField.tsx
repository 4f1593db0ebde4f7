import * as React from 'react';

import type { JobForm } from '../core/jobForm';
import { partAt, withPart } from '../core/optionOffers';
import type { IRunOption } from '../core/runLine';
import { trans } from '../core/translation';

/** Who types waits no longer than this for names. */
const PAUSE_MS = 150;

type Text = HTMLInputElement | HTMLTextAreaElement;

/** Around a field: names of the project below it, by what is typed. Down goes to them, Enter takes one, Escape puts them away. */
export function OfferedField(props: {
  form: JobForm;
  option: IRunOption;
  children: React.ReactElement;
}): React.ReactElement {
  const { form, option, children } = props;
  const [names, setNames] = React.useState<readonly string[]>([]);
  const box = React.useRef<HTMLDivElement>(null);
  const question = React.useRef(0);
  const timer = React.useRef<ReturnType<typeof setTimeout>>();
  // eslint-disable-next-line acai/untranslated -- a selector
  const field = () => box.current?.querySelector<Text>('textarea, input');
  const putAway = () => {
    question.current += 1;
    clearTimeout(timer.current);
    setNames([]);
  };
  React.useEffect(
    () => () => {
      question.current += 1;
      clearTimeout(timer.current);
    },
    []
  );
  const look = () => {
    const at = field();
    const asked = (question.current += 1);
    clearTimeout(timer.current);
    if (at === null || at === undefined) {
      return;
    }
    const { text } = partAt(at.value, at.selectionStart ?? at.value.length);
    timer.current = setTimeout(() => {
      form.offers(option, text).then(
        found => {
          if (asked === question.current) {
            setNames(found);
          }
        },
        () => {
          // What is wrong is said of the plan.
        }
      );
    }, PAUSE_MS);
  };
  const take = (name: string) => {
    const at = field();
    if (at !== null && at !== undefined) {
      const part = partAt(at.value, at.selectionStart ?? at.value.length);
      form.edit(option, withPart(at.value, part, name));
      at.focus();
    }
    putAway();
  };
  const onKey = (event: React.KeyboardEvent) => {
    // eslint-disable-next-line acai/untranslated -- a selector
    const buttons = [...(box.current?.querySelectorAll('li button') ?? [])];
    const at = buttons.indexOf(document.activeElement ?? document.body);
    if (buttons.length === 0) {
      return;
    }
    if (event.key === 'Escape') {
      event.preventDefault();
      field()?.focus();
      putAway();
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const to = at + (event.key === 'ArrowDown' ? 1 : -1);
      if (at >= 0 || event.key === 'ArrowDown') {
        event.preventDefault();
        (to < 0 ? field() : (buttons[to] as HTMLElement | undefined))?.focus();
      }
    }
  };
  return (
    <div
      ref={box}
      className="jp-AcaiForm-offered"
      onInput={look}
      onFocus={event => {
        if (event.target === field()) {
          look();
        }
      }}
      onBlur={event => {
        if (!event.currentTarget.contains(event.relatedTarget)) {
          putAway();
        }
      }}
      onKeyDown={onKey}
    >
      {children}
      {names.length > 0 && (
        <ul
          className="jp-AcaiForm-offers"
          aria-label={trans.__('for %1', option.name)}
        >
          {names.map(name => (
            <li key={name}>
              <button
                type="button"
                tabIndex={-1}
                onClick={() => {
                  take(name);
                }}
              >
                {name}
              </button>
            </li>
          ))}
        </ul>
      )}
      <span className="jp-AcaiForm-told" role="status">
        {names.length > 0 &&
          trans.__('%1 offered, Arrow Down goes to them', names.length)}
      </span>
    </div>
  );
}
