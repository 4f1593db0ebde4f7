import type { Message } from '@lumino/messaging';
import { PanelLayout, Widget } from '@lumino/widgets';

import { trans } from '../core/translation';

/** A part of the page whose code is loaded when it can first be seen. */
export class LazyPart extends Widget {
  constructor(
    private readonly load: () => Promise<Widget>,
    node: HTMLElement = document.createElement('div')
  ) {
    super({ node });
    this.layout = this.parts;
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.wake();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.wake();
  }

  protected get canBeSeen(): boolean {
    return this.isVisible;
  }

  /** Load it now, if it can be seen. */
  protected wake(): void {
    if (this.canBeSeen) {
      this.content ??= this.addContent();
    }
  }

  private async addContent(): Promise<void> {
    const content = await this.load().catch(() => missing());
    if (this.isDisposed) {
      content.dispose();
    } else {
      this.parts.addWidget(content);
    }
  }

  private readonly parts = new PanelLayout({ fitPolicy: 'set-no-constraint' });
  private content: Promise<void> | null = null;
}

/** The files of this page are gone from the server after an upgrade. */
function missing(): Widget {
  const sentence = new Widget();
  sentence.addClass('jp-AcaiPanel-content');
  sentence.node.textContent = trans.__(
    'This part of ACAI could not be loaded. Reload the page.'
  );
  return sentence;
}
