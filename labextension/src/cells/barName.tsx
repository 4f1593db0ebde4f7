import * as React from 'react';

/** What a bar is of, which opens it where something can. It can be given the focus in either case. */
export const BarName = React.forwardRef<
  HTMLElement,
  { words: string; name: string; onOpen: (() => void) | null }
>(function BarName({ words, name, onOpen }, ref) {
  return onOpen === null ? (
    <span ref={ref} tabIndex={-1}>
      {words}
    </span>
  ) : (
    <button
      ref={ref as React.Ref<HTMLButtonElement>}
      type="button"
      className="jp-AcaiCellBar-name"
      aria-label={name}
      onClick={onOpen}
    >
      {words}
    </button>
  );
});
