import { MainAreaWidget } from '@jupyterlab/apputils';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { ProjectClient } from '../core/projectClient';
import { acaiIcon } from '../panel/icon';
import { Compare } from './compareView';

/** Two jobs side by side in a tab of the main area. */
export class CompareTab extends MainAreaWidget {
  static idOf(before: number, after: number): string {
    return `acai-compare-${before}-${after}`;
  }

  constructor(before: number, after: number, client: ProjectClient) {
    const content = ReactWidget.create(
      <Compare before={before} after={after} client={client} />
    );
    content.addClass('jp-AcaiView');
    content.addClass('jp-AcaiJobTab');
    super({ content });
    this.id = CompareTab.idOf(before, after);
    this.title.icon = acaiIcon;
    this.title.label = `jobs ${before} and ${after}`;
    this.title.closable = true;
  }
}
