import * as React from 'react';

/** Whether the lines of a log have the focus: those that take their place are to have it then. */
export type ILogFocus = React.MutableRefObject<boolean>;

/** What is taken out of the page loses the focus to nothing. */
export function followFocus(focus: ILogFocus) {
  return {
    onFocus: () => {
      focus.current = true;
    },
    onBlur: (event: React.FocusEvent) => {
      focus.current = event.relatedTarget === null && focus.current;
    }
  };
}

/** Take over the focus of what stood here before. */
export function useLogFocus(
  focus: ILogFocus,
  node: React.RefObject<HTMLElement>
): void {
  React.useLayoutEffect(() => {
    if (focus.current && node.current !== document.activeElement) {
      node.current?.focus({ preventScroll: true });
    }
  }, [focus, node]);
}
