import * as React from 'react';

/** What stands in a list and can be taken out of it. */
export interface IChip {
  key: string;
  words: string;
  /** What its button is called. */
  name: string;
  /** Takes it out, and returns when that is done or refused. */
  onRemove: () => Promise<unknown>;
}

/** Short words, each with a button that takes it out once. Where that had the focus, the next one gets it, else the field behind. */
export function Chips(props: {
  label: string;
  chips: readonly IChip[];
}): React.ReactElement {
  const { label, chips } = props;
  const list = React.useRef<HTMLUListElement>(null);
  /** What is on its way out. */
  const leaving = React.useRef(new Set<string>());
  const pressed = React.useRef({ key: '', at: 0 });
  React.useLayoutEffect(() => {
    const { key, at } = pressed.current;
    if (key !== '' && !chips.some(chip => chip.key === key)) {
      focusNear(list.current, at);
      pressed.current.key = '';
    }
  });
  const remove = ({ key, onRemove }: IChip, at: number) => {
    if (!leaving.current.has(key)) {
      leaving.current.add(key);
      pressed.current = { key, at };
      void onRemove().finally(() => {
        leaving.current.delete(key);
      });
    }
  };
  return (
    <ul ref={list} className="jp-AcaiLabels" aria-label={label}>
      {chips.map((chip, at) => (
        <li key={chip.key}>
          {chip.words}
          <button
            type="button"
            aria-label={chip.name}
            onClick={() => {
              remove(chip, at);
            }}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Only where the focus went with the button that had it. */
function focusNear(list: HTMLUListElement | null, at: number): void {
  if (list === null || document.activeElement !== document.body) {
    return;
  }
  const buttons = [...list.querySelectorAll('button')];
  const field = list.parentElement?.querySelector('input');
  (buttons[Math.min(at, buttons.length - 1)] ?? field)?.focus();
}
