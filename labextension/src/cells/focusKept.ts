import * as React from 'react';

/**
 * Where the keyboard goes when what was pressed is there no longer. `pressed` is called by what is; who has gone on meanwhile is
 * left where they are.
 */
export function useFocusKept<Place extends HTMLElement>(
  isThere: boolean
): { place: React.RefObject<Place>; pressed: () => void } {
  const place = React.useRef<Place>(null);
  const wasPressed = React.useRef(false);
  React.useEffect(() => {
    if (!isThere && wasPressed.current) {
      wasPressed.current = false;
      if (document.activeElement === document.body) {
        place.current?.focus();
      }
    }
  }, [isThere]);
  const pressed = () => {
    wasPressed.current = true;
  };
  return { place, pressed };
}
