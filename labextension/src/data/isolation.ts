import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { Widget } from '@lumino/widgets';

import { withoutRequests } from '../core/externalRequests';
import { trans } from '../core/translation';

/** Kinds of content that load nothing when they are drawn, once their HTML is cleaned. */
const QUIET = /^(?:(?:text|image)\/|application\/(?:json$|pdf$|vnd\.acai\.))/;

/** Whether a kind of content can be drawn without its viewer asking other hosts for anything. */
export function isQuiet(mime: string): boolean {
  return QUIET.test(mime);
}

export function whyNotDrawn(mime: string): string {
  return trans.__(
    '%1 is not drawn in a preview, as its viewer could load from other hosts. Open a copy of the file to see it drawn.',
    mime
  );
}

/** Keep a viewer of JupyterLab's from loading anything from other hosts for what it shows. Called before it shows anything. */
export function isolate(widget: Widget): void {
  const { content } = widget as Partial<IViewer>;
  if (content === undefined) {
    return;
  }
  const { rendermime, renderer, mimeType } = content;
  if (rendermime !== undefined) {
    rendermime.sanitizer = quiet(rendermime.sanitizer);
  }
  if (renderer?.sanitizer !== undefined) {
    renderer.sanitizer = quiet(renderer.sanitizer);
  }
  if (renderer !== undefined && mimeType !== undefined && !isQuiet(mimeType)) {
    renderer.renderModel = () => {
      renderer.node.textContent = whyNotDrawn(mimeType);
      return Promise.resolve();
    };
  }
  if (Array.isArray(content.sandbox)) {
    keepApart(content as IFrame);
  }
}

/** What is used of viewers: a notebook has its own registry of renderers, others have one renderer, and pages a frame. */
interface IViewer {
  content: {
    rendermime?: { sanitizer: IRenderMime.ISanitizer };
    renderer?: Widget & {
      sanitizer?: IRenderMime.ISanitizer;
      renderModel: IRenderMime.IRenderer['renderModel'];
    };
    mimeType?: string;
    sandbox?: string[];
  };
}

interface IFrame {
  sandbox: string[];
}

function quiet(sanitizer: IRenderMime.ISanitizer): IRenderMime.ISanitizer {
  const stricter = Object.create(sanitizer) as IRenderMime.ISanitizer;
  stricter.sanitize = (dirty, options) =>
    withoutRequests(sanitizer.sanitize(dirty, options));
  return stricter;
}

/** A page whose scripts may run never acts as this one. */
function keepApart(frame: IFrame): void {
  const prototype: unknown = Object.getPrototypeOf(frame);
  const own = propertyOf(prototype, 'sandbox');
  Object.defineProperty(frame, 'sandbox', {
    get: () => own?.get?.call(frame) as string[],
    set: (allowed: string[]) => {
      const apart = allowed.filter(one => one !== 'allow-same-origin');
      const hasScripts = allowed.includes('allow-scripts');
      own?.set?.call(frame, hasScripts ? apart : allowed);
    }
  });
}

function propertyOf(
  start: unknown,
  name: string
): PropertyDescriptor | undefined {
  for (let at = start; at !== null; at = Object.getPrototypeOf(at)) {
    const found = Object.getOwnPropertyDescriptor(at, name);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}
