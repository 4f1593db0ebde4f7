import { describe, expect, it } from 'vitest';

import { isColours, keptAttribute } from '../src/provenance/svg';

const LIGHT =
  '.acai-graph .acai-job{fill:var(--acai-job-fill,#fdf3e2);stroke:var(--acai-job-stroke,#a8690f)}';

describe('Of a drawing', () => {
  it.each([
    ['d', 'M1.5 2L-3 4e-05Q5 6 7 8'],
    ['points', '1,2 3,-4'],
    ['fill', '#eaf2fd'],
    ['class', 'acai-edge acai-faded'],
    ['font-family', "system-ui, -apple-system, 'Segoe UI', sans-serif"],
    ['style', "font-family:var(--jp-ui-font-family,'Segoe UI');fill:red"],
    ['xmlns', 'http://www.w3.org/2000/svg']
  ])('what draws is left: %s="%s"', (name, value) => {
    expect(keptAttribute(name, value)).toBe(value);
  });

  it.each([
    ['onload', 'steal()'],
    ['onclick', 'steal()'],
    ['href', 'https://example.org'],
    ['xlink:href', 'javascript:steal()'],
    ['xmlns', 'http://www.w3.org/1999/xhtml'],
    ['tabindex', '0'],
    ['fill', 'url(https://example.org/x.svg#a)'],
    ['fill', 'red\nurl(https://example.org/x.svg#a)'],
    ['fill', '\\75rl(https://example.org)'],
    ['data-acai-thing', '7']
  ])('what acts, leads away or answers is not: %s="%s"', (name, value) => {
    expect(keptAttribute(name, value)).toBeNull();
  });

  it('names of the page are not', () => {
    expect(keptAttribute('class', 'jp-Dialog acai-job')).toBe('acai-job');
    expect(keptAttribute('id', 'jp-main-dock-panel')).toBe('');
    expect(keptAttribute('id', 'acai-panel')).toBe('');
    const names = 'acai-title-0a1b2c3d acai-desc-0a1b2c3d';
    expect(keptAttribute('aria-labelledby', `${names} acai-panel`)).toBe(names);
  });

  it('styles that cover the page or ask for something are not', () => {
    const style = 'position:fixed;fill:red;stroke:url(https://example.org)';
    expect(keptAttribute('style', style)).toBe('fill:red');
  });

  it('a sheet is left that gives its own classes colours', () => {
    const dark = `[data-jp-theme-light="false"] ${LIGHT}`;
    const media = `@media (prefers-color-scheme:dark){${LIGHT}${LIGHT}}`;
    expect(isColours(`${LIGHT}${media}${dark}`)).toBe(true);
    expect(isColours('')).toBe(true);
  });

  it.each([
    'body{display:none}',
    `${LIGHT}@import "https://example.org/x.css";`,
    '.acai-graph .acai-job{fill:url(https://example.org)}',
    '.acai-graph .acai-job{position:fixed}',
    `.acai-graph .acai-job,body{fill:var(--acai-x,#fff)}`
  ])('any other sheet is not: %s', text => {
    expect(isColours(text)).toBe(false);
  });
});
