import type { Message } from '@lumino/messaging';
import { Panel } from '@lumino/widgets';

import { trans } from '../core/translation';
import type { IAcaiConnection, IAcaiPanel, IAcaiPanelSection } from '../tokens';
import { acaiIcon } from './icon';
import { LazyPart } from './lazyPart';
import { PanelSection } from './section';

const ABOUT_RANK = 1_000;

/** The sidebar's panel. Empty, and silent towards the server, until it is first shown. */
export class AcaiPanel extends Panel implements IAcaiPanel {
  static readonly id = 'acai-panel';

  constructor(
    private readonly connection: IAcaiConnection,
    onProjects: (below: HTMLElement) => void
  ) {
    super();
    this.id = AcaiPanel.id;
    this.addClass('jp-AcaiPanel');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('ACAI'));
    this.title.icon = acaiIcon;
    this.title.caption = trans.__('ACAI');
    this.addWidget(
      new LazyPart(async () => {
        const { PanelContent } = await import('./content');
        return new PanelContent(connection, onProjects);
      })
    );
    this.addSection({
      title: trans.__('Connection'),
      rank: ABOUT_RANK,
      isOpen: false,
      load: async () => {
        const { AboutContent } = await import('./content');
        return new AboutContent(connection);
      }
    });
  }

  addSection(section: IAcaiPanelSection): void {
    const before = this.widgets.findIndex(
      one => one instanceof PanelSection && one.rank > section.rank
    );
    this.insertWidget(
      before < 0 ? this.widgets.length : before,
      new PanelSection(section)
    );
  }

  setBadge(text: string): void {
    // The shell keeps what it knows a tab by in the same place.
    this.title.dataset = { ...this.title.dataset, 'acai-badge': text };
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.isVisible) {
      void this.connection.connect();
    }
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    void this.connection.connect();
  }
}
