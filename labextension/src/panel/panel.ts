import type { Message } from '@lumino/messaging';
import { Panel, Widget } from '@lumino/widgets';

import type { IAcaiConnection } from '../tokens';
import { acaiIcon } from './icon';

/** The sidebar's panel. Empty, and silent towards the server, until it is first shown. */
export class AcaiPanel extends Panel {
  static readonly id = 'acai-panel';

  constructor(private readonly connection: IAcaiConnection) {
    super();
    this.id = AcaiPanel.id;
    this.addClass('jp-AcaiPanel');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', 'ACAI');
    this.title.icon = acaiIcon;
    this.title.caption = 'ACAI';
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.isVisible) {
      this.wake();
    }
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.wake();
  }

  private wake(): void {
    void this.connection.connect();
    this.content ??= this.addContent();
  }

  private async addContent(): Promise<void> {
    const content = await loadContent(this.connection);
    if (this.isDisposed) {
      content.dispose();
    } else {
      this.addWidget(content);
    }
  }

  private content: Promise<void> | null = null;
}

async function loadContent(connection: IAcaiConnection): Promise<Widget> {
  try {
    const { PanelContent } = await import('./content');
    return new PanelContent(connection);
  } catch {
    // The files of this page are gone from the server after an upgrade.
    const sentence = new Widget();
    sentence.addClass('jp-AcaiPanel-content');
    sentence.node.textContent =
      'This part of ACAI could not be loaded. Reload the page.';
    return sentence;
  }
}
