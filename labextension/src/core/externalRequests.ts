/** Attributes that load something as soon as their element is in a page, or that say where to send something. */
const LOADING = [
  'src',
  'poster',
  'background',
  'data',
  'xlink:href',
  'action',
  'formaction'
];
/** These name several addresses, or are of use only to other hosts. */
const DROPPED = ['srcset', 'imagesrcset', 'ping'];
/* eslint-disable acai/untranslated -- a selector and a policy, which browsers read */
/** Elements that hold another page, or tell the browser where to go before anything is shown. */
const ELEMENTS =
  'base, meta[http-equiv], iframe, frame, frameset, object, embed, portal, link, template';
const STYLE_LOADS = /url\s*\(|image-set\s*\(|@import|\\/i;

/** What a page of the store may use: what it holds itself. Scripts run only after the viewer's own button. */
const POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline' 'unsafe-eval' data: blob:",
  "style-src 'unsafe-inline' data:",
  'img-src data: blob:',
  'media-src data: blob:',
  'font-src data:',
  'worker-src blob:',
  "form-action 'none'"
].join('; ');
/* eslint-enable acai/untranslated */

/** The same piece of HTML without anything that loads from other hosts. Links stay: a click is the reader's choice. */
export function withoutRequests(html: string): string {
  const { body } = parsed(html);
  for (const one of body.querySelectorAll(ELEMENTS)) {
    one.remove();
  }
  for (const one of body.querySelectorAll('style')) {
    if (STYLE_LOADS.test(one.textContent)) {
      one.remove();
    }
  }
  for (const one of body.querySelectorAll('*')) {
    for (const name of LOADING) {
      const value = one.getAttribute(name);
      if (value !== null && isExternal(value)) {
        one.removeAttribute(name);
        if (name === 'src') {
          tellWhatIsMissing(one, value);
        }
      }
    }
    for (const name of DROPPED) {
      one.removeAttribute(name);
    }
    const href = one.getAttribute('href');
    const isLink = /^a(?:rea)?$/i.test(one.tagName);
    if (href !== null && !isLink && isExternal(href)) {
      one.removeAttribute('href');
    }
    if (STYLE_LOADS.test(one.getAttribute('style') ?? '')) {
      one.removeAttribute('style');
    }
  }
  return body.innerHTML;
}

/** The same page, which the browser lets load nothing but what it holds itself. */
export function withPolicy(html: string): string {
  const page = parsed(html);
  for (const one of page.querySelectorAll(ELEMENTS)) {
    one.remove();
  }
  if (page.querySelector('body') === null) {
    page.documentElement.append(page.createElement('body'));
  }
  const policy = page.createElement('meta');
  policy.httpEquiv = 'Content-Security-Policy';
  policy.content = POLICY;
  page.head.prepend(policy);
  return `<!DOCTYPE html>${page.documentElement.outerHTML}`;
}

/** A document that is not shown: nothing in it is loaded or run. */
function parsed(html: string): Document {
  return new DOMParser().parseFromString(html, 'text/html');
}

function isExternal(address: string): boolean {
  try {
    const url = new URL(address, window.location.href);
    const isHeld = url.protocol === 'data:' || url.protocol === 'blob:';
    return !isHeld && url.origin !== window.location.origin;
  } catch {
    return true;
  }
}

function tellWhatIsMissing(element: Element, address: string): void {
  if (element instanceof HTMLImageElement && !element.hasAttribute('alt')) {
    element.alt = address;
  }
}
