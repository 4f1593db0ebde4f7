import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { ISweepSnapshot } from '../core/sweepSnapshot';
import { ownKeys } from '../panel/ownKeys';
import type { ViewServices } from '../views/services';
import { SweepModel } from '../views/sweep/model';
import { SweepBarView } from './sweepBarView';

/** The bar of a sweep, which asks of its jobs only while it can be seen. Loaded with the first one. */
export class SweepBar extends ReactWidget {
  constructor(
    private readonly snapshot: ISweepSnapshot,
    private readonly services: ViewServices,
    private readonly onOpen: (() => void) | null
  ) {
    super();
    this.addClass('jp-AcaiView');
    this.addClass('jp-AcaiCellBar');
    ownKeys(this.node);
    const { project, table } = snapshot;
    this.model = new SweepModel(table, {
      ask: () => services.jobs.sweep(project, table.tag),
      follow: listener => services.connection.follow(project, listener)
    });
    this.unwatch = services.visibility.watch(this.node, isSeen => {
      this.model.setSeen(isSeen);
    });
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.unwatch();
      this.model.dispose();
      super.dispose();
    }
  }

  protected override render(): React.ReactElement {
    const { model, snapshot, services, onOpen } = this;
    const { project, count, table } = snapshot;
    return (
      <SweepBarView
        model={model}
        project={project}
        count={count}
        onKill={() => services.jobs.killSweep(project, table.tag)}
        onOpen={onOpen}
      />
    );
  }

  private readonly model: SweepModel;
  private readonly unwatch: () => void;
}
