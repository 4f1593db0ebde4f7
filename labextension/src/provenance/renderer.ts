import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { ReadonlyPartialJSONValue } from '@lumino/coreutils';
import type { Message } from '@lumino/messaging';
import { Panel, Widget } from '@lumino/widgets';

import { parsedSvg } from './svg';

export const MIME_TYPE = 'application/vnd.acai.provenance+json';
const WIDGET = 'application/vnd.jupyter.widget-view+json';
const SVG = 'image/svg+xml';
const HTML = 'text/html';
const PLAIN = 'text/plain';

/** What is needed of a kernel to know whether it still has a widget. */
export interface IKernel {
  hasComm(id: string): boolean;
  requestCommInfo(content: {
    target_name: string;
  }): Promise<{ content: unknown }>;
}

/** What is needed of the notebook in which a graph is shown. */
export interface IPlace {
  content?: {
    rendermime?: { createRenderer(type: string): IRenderMime.IRenderer };
  };
  sessionContext?: { session?: { kernel?: IKernel | null } | null };
}

/**
 * Shows a graph: its widget while the kernel that made it lives, else what the notebook has kept of it.
 */
export class GraphRenderer extends Panel implements IRenderMime.IRenderer {
  constructor(
    placeOf: (node: Node) => IPlace | null,
    sanitizer: IRenderMime.ISanitizer
  ) {
    super();
    this.addClass('jp-AcaiGraph');
    this._placeOf = placeOf;
    this._sanitizer = sanitizer;
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this._model = model;
    this._showKept(model);
    await this._tryWidget();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    void this._tryWidget();
  }

  /** The drawing in the colours of the theme, with its table; where there is none that we know, what any front end shows. */
  private _showKept(model: IRenderMime.IMimeModel): void {
    const kept = new Widget();
    kept.addClass('jp-AcaiGraph-kept');
    const svg = parsedSvg(textOf(model.data[SVG]));
    const page = this._sanitized(textOf(model.data[HTML]));
    const table = page.querySelector('details');
    if (svg !== null) {
      kept.node.append(document.importNode(svg, true), table ?? '');
    } else if (page.childElementCount > 0) {
      kept.node.append(...page.childNodes);
    } else {
      const plain = document.createElement('pre');
      plain.textContent = textOf(model.data[PLAIN]);
      kept.node.append(plain);
    }
    this._replace(kept);
  }

  private _sanitized(html: string): Element {
    const clean = this._sanitizer.sanitize(html);
    const page = new DOMParser().parseFromString(clean, 'text/html');
    return document.importNode(page.body, true);
  }

  /** Show the widget if its kernel has it. */
  private async _tryWidget(): Promise<void> {
    const model = this._model;
    const id = modelId(model?.data[WIDGET]);
    if (!model || id === null || !this._canShow(model)) {
      return;
    }
    const place = this._placeOf(this.node);
    const kernel = place?.sessionContext?.session?.kernel;
    const rendermime = place?.content?.rendermime;
    if (!kernel || !rendermime || !(await hasWidget(kernel, id))) {
      return;
    }
    if (!this._canShow(model)) {
      return;
    }
    this._isLive = true;
    const live = rendermime.createRenderer(WIDGET);
    await live.renderModel(model);
    this._replace(live);
  }

  /** A model can be replaced, and a page can go, while a kernel is asked. */
  private _canShow(model: IRenderMime.IMimeModel): boolean {
    return this.isAttached && !this._isLive && this._model === model;
  }

  private _replace(widget: Widget): void {
    for (const before of [...this.widgets]) {
      before.dispose();
    }
    this.addWidget(widget);
  }

  private _placeOf: (node: Node) => IPlace | null;
  private _sanitizer: IRenderMime.ISanitizer;
  private _model: IRenderMime.IMimeModel | null = null;
  private _isLive = false;
}

/** A page that was loaded after the widget was made has not heard of it, but its kernel knows. */
async function hasWidget(kernel: IKernel, id: string): Promise<boolean> {
  if (kernel.hasComm(id)) {
    return true;
  }
  const reply = await kernel.requestCommInfo({ target_name: 'jupyter.widget' });
  const { comms } = reply.content as { comms?: Record<string, unknown> };
  return comms !== undefined && id in comms;
}

function modelId(value: ReadonlyPartialJSONValue | undefined): string | null {
  const id =
    typeof value === 'object' && value !== null && 'model_id' in value
      ? value.model_id
      : null;
  return typeof id === 'string' && id !== '' ? id : null;
}

/** Notebooks keep texts as lists of lines too. */
function textOf(value: ReadonlyPartialJSONValue | undefined): string {
  const text = Array.isArray(value) ? value.join('') : value;
  return typeof text === 'string' ? text : '';
}
