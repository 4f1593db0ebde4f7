import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { ReadonlyPartialJSONValue } from '@lumino/coreutils';
import { Panel, Widget } from '@lumino/widgets';

import type { IPlainForms } from '../core/plainForms';
import { ownKeys } from '../panel/ownKeys';
import type { ViewServices } from './services';

export const KINDS = ['job', 'jobs', 'sweep'] as const;
export type Kind = (typeof KINDS)[number];

export function mimeTypeOf(kind: Kind): string {
  return `application/vnd.acai.${kind}+json`;
}

/** What a view can do with the output that it stands in. */
export interface IOutput {
  readonly data: unknown;
  /** The same as any front end shows it. */
  readonly text: string;
  /** Keep in the notebook how the thing stands now, in all forms that it has there. */
  keep(snapshot: unknown, forms: IPlainForms): void;
}

/** A widget whose content is only followed while it can be seen. */
export interface IView extends Widget {
  present(output: IOutput): void;
  setSeen(isSeen: boolean): void;
}

/**
 * An output of ours. Until it is first seen it is its plain text, and nothing is loaded; then it is a view.
 */
export class ViewRenderer extends Panel implements IRenderMime.IRenderer {
  constructor(
    private readonly kind: Kind,
    private readonly services: ViewServices
  ) {
    super();
    this.addClass('jp-AcaiView');
    ownKeys(this.node);
    this.addWidget(this.text);
    this.unwatch = services.visibility.watch(this.node, isSeen => {
      this.setSeen(isSeen);
    });
  }

  renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.model = model;
    this.text.node.textContent = textOf(model);
    this.update();
    if (this.view !== null) {
      this.present(this.view);
    }
    return Promise.resolve();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.unwatch();
      super.dispose();
    }
  }

  private setSeen(isSeen: boolean): void {
    this.isSeen = isSeen;
    if (isSeen) {
      this.loading ??= this.load();
    }
    this.view?.setSeen(isSeen);
  }

  private async load(): Promise<void> {
    try {
      const { createView } = await import('./content');
      if (this.isDisposed) {
        return;
      }
      this.view = createView(this.kind, this.services);
      this.view.hide();
      this.addWidget(this.view);
      this.view.setSeen(this.isSeen);
      this.present(this.view);
    } catch (error) {
      // The files of this page are gone after an upgrade: the text stays.
      console.warn('A view of ACAI could not be shown.', error);
    }
  }

  /** What a notebook holds may be none of ours, and another one later: then it is its text. */
  private present(view: IView): void {
    let canShow = true;
    try {
      view.present(this.output);
    } catch (error) {
      console.warn(
        'This is no output of ACAI, or one of a later version.',
        error
      );
      canShow = false;
    }
    view.setHidden(!canShow);
    this.text.setHidden(canShow);
  }

  private get output(): IOutput {
    const { model, kind } = this;
    const mimeType = mimeTypeOf(kind);
    return {
      data: model?.data[mimeType],
      text: model === null ? '' : textOf(model),
      keep: (snapshot, { text, html }) => {
        if (model !== null && !this.isDisposed) {
          const data = {
            ...model.data,
            'text/plain': text,
            'text/html': html,
            [mimeType]: snapshot as ReadonlyPartialJSONValue
          };
          model.setData({ data });
        }
      }
    };
  }

  private model: IRenderMime.IMimeModel | null = null;
  private view: IView | null = null;
  private loading: Promise<void> | null = null;
  private isSeen = false;
  private readonly text = new Widget({ node: document.createElement('pre') });
  private readonly unwatch: () => void;
}

function textOf(model: IRenderMime.IMimeModel): string {
  const text = model.data['text/plain'];
  const lines: unknown[] = Array.isArray(text) ? text : [text];
  return lines.filter(line => typeof line === 'string').join('');
}
