import * as React from 'react';

import { trans } from '../core/translation';

/** A button that is quiet. */
export function Action(props: {
  words: string;
  of?: number;
  /** What it is called where its words alone do not tell it from others; it begins with them. */
  name?: string;
  isOpen?: boolean;
  isLoud?: boolean;
  /** It does what it was pressed for, and nothing more meanwhile. */
  isBusy?: boolean;
  /** It comes in place of the button that was pressed. */
  takesFocus?: boolean;
  onClick: () => void;
}): React.ReactElement {
  const { words, of, isOpen, isLoud, isBusy, takesFocus = false } = props;
  const name =
    props.name ??
    (of === undefined ? undefined : trans.__('%1, job %2', words, of));
  const node = React.useRef<HTMLButtonElement>(null);
  React.useEffect(() => {
    if (takesFocus) {
      node.current?.focus();
    }
  }, [takesFocus]);
  return (
    <button
      ref={node}
      type="button"
      className="jp-AcaiView-button"
      data-loud={isLoud === true ? '' : undefined}
      aria-label={name}
      aria-expanded={isOpen}
      // Not `disabled`, which would take the keyboard's focus away.
      aria-disabled={isBusy}
      onClick={isBusy === true ? undefined : props.onClick}
    >
      {words}
    </button>
  );
}

/** What is asked twice, as it cannot be undone. `sure` and `not` are the answers; who presses Enter twice has done nothing. */
export function SureAction(props: {
  words: string;
  of?: number;
  name?: string;
  sure: string;
  not: string;
  onSure: () => void;
}): React.ReactElement {
  const { words, of, name, sure, not, onSure } = props;
  const [stage, setStage] = React.useState<'' | 'asked' | 'answered'>('');
  if (stage !== 'asked') {
    return (
      <Action
        key="ask"
        words={words}
        of={of}
        name={name}
        takesFocus={stage === 'answered'}
        onClick={() => {
          setStage('asked');
        }}
      />
    );
  }
  return (
    <>
      <Action
        key="sure"
        words={sure}
        isLoud
        onClick={() => {
          setStage('answered');
          onSure();
        }}
      />
      <Action
        key="not"
        words={not}
        of={of}
        takesFocus
        onClick={() => {
          setStage('answered');
        }}
      />
    </>
  );
}
