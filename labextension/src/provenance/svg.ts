/*
 * What of a drawing gets onto the page: shapes and words as the server draws them. Names in it are those of users, and an output
 * of a notebook may have been written by anybody.
 */
/* eslint-disable acai/untranslated -- names in SVG and CSS */
const SVG = 'http://www.w3.org/2000/svg';
const ELEMENTS = new Set(
  'svg title desc style g path text rect polygon circle ellipse'.split(' ')
);
const ATTRIBUTES = new Set(
  `color cx cy d fill font-family font-size font-weight height opacity points r role rx ry stroke stroke-dasharray stroke-width
   text-anchor viewBox width x y`.split(/\s+/)
);
/** Their words may name what is a drawing's own, so that nothing of the page is meant or dressed up. */
const OWN_ID = /^acai-(?:title|desc)-[0-9a-f]{8}$/;
const OWN_NAMES: ReadonlyMap<string, RegExp> = new Map([
  ['aria-labelledby', OWN_ID],
  ['class', /^acai-[\w-]+$/],
  ['id', OWN_ID]
]);
const STYLES = new Set('fill font-family height max-width stroke'.split(' '));
/* eslint-enable acai/untranslated */
/** Neither addresses nor anything that could hold one. */
const PLAIN = /^(?![^]*url)[\w\s#%.,'()+-]*$/i;

const COLOURS = String.raw`(?:(?:fill|stroke|color):var\(--acai-[\w-]+,#\w{3,8}\);?)*`;
const RULE = String.raw`(?:\[data-jp-theme-light="(?:true|false)"\] )?\.acai-graph \.acai-[\w-]+\{${COLOURS}\}`;
const SHEET = new RegExp(
  String.raw`^(?:${RULE}|@media \(prefers-color-scheme:dark\)\{(?:${RULE})*\})*$`
);

/** A drawing as nodes, of which only what draws is left; null where it is none. */
export function parsedSvg(text: string): Element | null {
  const found = new DOMParser().parseFromString(text, 'image/svg+xml');
  const root = found.documentElement;
  if (root.namespaceURI !== SVG || root.localName !== 'svg') {
    return null;
  }
  strip(root);
  return root;
}

function strip(element: Element): void {
  for (const { name, value } of [...element.attributes]) {
    const kept = keptAttribute(name, value);
    if (kept === null) {
      element.removeAttribute(name);
    } else if (kept !== value) {
      element.setAttribute(name, kept);
    }
  }
  for (const child of [...element.children]) {
    if (isKept(child)) {
      strip(child);
    } else {
      child.remove();
    }
  }
}

function isKept(element: Element): boolean {
  const { namespaceURI, localName } = element;
  return (
    namespaceURI === SVG &&
    ELEMENTS.has(localName) &&
    (localName !== 'style' || isKeptSheet(element))
  );
}

/** A browser reads only the texts that stand directly in a style, so that nothing else may stand in it. */
function isKeptSheet({ childElementCount, textContent }: Element): boolean {
  return childElementCount === 0 && isColours(textContent);
}

/** Whether a style only gives the classes of drawings their colours, by theme: others would count for the whole page. */
export function isColours(text: string): boolean {
  return SHEET.test(text);
}

/** What is left of an attribute; null if nothing is. */
export function keptAttribute(name: string, value: string): string | null {
  if (name === 'xmlns') {
    return value === SVG ? value : null;
  }
  if (name === 'style') {
    return value.split(';').filter(isKeptStyle).join(';');
  }
  const own = OWN_NAMES.get(name);
  if (own !== undefined) {
    return value
      .split(/\s+/)
      .filter(one => own.test(one))
      .join(' ');
  }
  return ATTRIBUTES.has(name) && PLAIN.test(value) ? value : null;
}

function isKeptStyle(text: string): boolean {
  const [name = '', value = '', ...rest] = text.split(':');
  return rest.length === 0 && STYLES.has(name.trim()) && PLAIN.test(value);
}
