import { Panel } from '@lumino/widgets';

import { trans } from '../core/translation';
import { dataIcon } from '../panel/icon';
import { LazyPart } from '../panel/lazyPart';
import type { Loaded } from './loaded';

/** The sidebar of files and file sets. Empty, and silent towards the server, until it is first shown. */
export class DataPanel extends Panel {
  static readonly id = 'acai-data';

  constructor(loaded: Loaded) {
    super();
    this.id = DataPanel.id;
    this.addClass('jp-AcaiPanel');
    this.addClass('jp-AcaiDataPanel');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('ACAI Data'));
    this.title.icon = dataIcon;
    this.title.caption = trans.__('ACAI Data');
    this.addWidget(
      new LazyPart(async () => {
        const [{ DataContent }, services] = await Promise.all([
          import('./content'),
          loaded.services()
        ]);
        return new DataContent(services);
      })
    );
  }
}
