/** A drawing as nodes; null where it is none. */
export function parsedSvg(text: string): Element | null {
  const found = new DOMParser().parseFromString(text, 'image/svg+xml');
  return found.querySelector('parsererror') === null
    ? found.documentElement
    : null;
}
