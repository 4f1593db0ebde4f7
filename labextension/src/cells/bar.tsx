import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { IJobSnapshot, JobModel } from '../core/jobModel';
import { ownKeys } from '../panel/ownKeys';
import type { ViewServices } from '../views/services';
import { BarView } from './barView';

/** The bar of a job, which asks of it only while it can be seen. Loaded with the first one. */
export class JobBar extends ReactWidget {
  constructor(
    private readonly snapshot: IJobSnapshot,
    private readonly services: ViewServices,
    private readonly onOpen: (() => void) | null
  ) {
    super();
    this.addClass('jp-AcaiView');
    this.addClass('jp-AcaiCellBar');
    ownKeys(this.node);
    this.model = services.store.acquire(snapshot);
    this.unwatch = services.visibility.watch(this.node, isSeen => {
      this.unlook?.();
      this.unlook = isSeen ? this.model.look() : null;
    });
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.unwatch();
      this.unlook?.();
      this.services.store.release(this.snapshot);
      super.dispose();
    }
  }

  protected override render(): React.ReactElement {
    const { model, snapshot, services, onOpen } = this;
    return (
      <BarView
        model={model}
        project={snapshot.project}
        services={services}
        onOpen={onOpen}
      />
    );
  }

  private readonly model: JobModel;
  private readonly unwatch: () => void;
  private unlook: (() => void) | null = null;
}
