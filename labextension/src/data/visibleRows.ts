import * as React from 'react';

/** So many rows are there above and below those that can be seen. */
const SPARE = 10;

/** Which of many rows of one height are to be there, from where their box is scrolled to. */
export function useVisibleRows(
  box: React.RefObject<HTMLElement>,
  height: number,
  onSee?: (first: number, last: number) => void
): [number, number] {
  const [window, setWindow] = React.useState<[number, number]>([0, 60]);
  const see = React.useRef(onSee);
  see.current = onSee;
  React.useLayoutEffect(() => {
    const node = box.current;
    if (node === null) {
      return undefined;
    }
    const look = () => {
      const top = Math.floor(node.scrollTop / height);
      const rows = Math.ceil(node.clientHeight / height);
      setWindow(before =>
        before[0] === Math.max(0, top - SPARE) &&
        before[1] === top + rows + SPARE
          ? before
          : [Math.max(0, top - SPARE), top + rows + SPARE]
      );
      see.current?.(top, top + rows);
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(node);
    node.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      node.removeEventListener('scroll', look);
    };
  }, [box, height]);
  return window;
}

/** Scroll a row of one height into sight. */
export function bringRowIntoView(
  box: HTMLElement | null,
  index: number,
  height: number
): void {
  if (box === null) {
    return;
  }
  const top = index * height;
  if (top < box.scrollTop) {
    box.scrollTop = top;
  } else if (top + height > box.scrollTop + box.clientHeight) {
    box.scrollTop = top + height - box.clientHeight;
  }
}
