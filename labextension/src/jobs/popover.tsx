import * as React from 'react';

/** A button that opens something below it. Escape, a click elsewhere and the Tab key that leaves it close it again. */
export function Popover(props: {
  words: string;
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
  children: React.ReactNode;
}): React.ReactElement {
  const { words, isOpen, onOpen, children } = props;
  const box = React.useRef<HTMLDetailsElement>(null);
  React.useEffect(() => {
    if (!isOpen) {
      return undefined;
    }
    const isInside = (target: EventTarget | null) =>
      target instanceof Node && box.current?.contains(target) === true;
    const hearClick = (event: MouseEvent) => {
      if (isInside(event.target)) {
        return;
      }
      onOpen(false);
      if (event.target instanceof Element && !event.target.closest(CONTROLS)) {
        // It was meant to close this, and not to choose the row below it.
        event.stopPropagation();
      }
    };
    const hearKey = (event: KeyboardEvent) => {
      if (event.key === 'Tab' && !isInside(document.activeElement)) {
        onOpen(false);
      }
    };
    document.addEventListener('click', hearClick, true);
    document.addEventListener('keyup', hearKey);
    return () => {
      document.removeEventListener('click', hearClick, true);
      document.removeEventListener('keyup', hearKey);
    };
  }, [isOpen, onOpen]);
  return (
    <details
      ref={box}
      className="jp-AcaiFilter-facet"
      open={isOpen}
      onToggle={event => {
        onOpen(event.currentTarget.open);
      }}
      onKeyDown={event => {
        if (event.key === 'Escape' && isOpen) {
          onOpen(false);
          box.current?.querySelector<HTMLElement>(SUMMARY)?.focus();
          event.stopPropagation();
        }
      }}
    >
      <summary>{words}</summary>
      <div className="jp-AcaiFilter-values">{children}</div>
    </details>
  );
}

/* eslint-disable acai/untranslated -- selectors */
const SUMMARY = 'summary';
const CONTROLS = 'a, button, input, select, summary, textarea';
/* eslint-enable acai/untranslated */
