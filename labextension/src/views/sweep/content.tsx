import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import { sweepForms } from '../../core/plainForms';
import { type ISweepSnapshot, readSweep } from '../../core/sweepSnapshot';
import { isLive } from '../../core/sweepTable';
import { Boundary } from '../boundary';
import type { IOutput, IView } from '../renderer';
import type { ViewServices } from '../services';
import { SweepModel } from './model';
import { SweepTable } from './table';

/** A sweep in an output. How it ended is kept in the notebook, also when no kernel is there to do it. */
export class SweepContent extends ReactWidget implements IView {
  constructor(private readonly services: ViewServices) {
    super();
    this.addClass('jp-AcaiSweep');
  }

  present(output: IOutput): void {
    const snapshot = readSweep(output.data);
    const { project, table } = snapshot;
    this.output = output;
    this.snapshot = snapshot;
    this.model?.dispose();
    this.model = new SweepModel(table, {
      ask: () => this.services.jobs.sweep(project, table.tag),
      follow: listener => this.services.connection.follow(project, listener)
    });
    this.model.subscribe(() => {
      this.keepEnd();
    });
    this.model.setSeen(this.isSeen);
    this.update();
  }

  setSeen(isSeen: boolean): void {
    this.isSeen = isSeen;
    this.model?.setSeen(isSeen);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.model?.dispose();
      super.dispose();
    }
  }

  protected override render(): React.ReactElement {
    const { model, snapshot } = this;
    return model === null || snapshot === null ? (
      <></>
    ) : (
      <Boundary text={this.output?.text ?? ''}>
        <SweepTable
          key={snapshot.table.tag}
          model={model}
          project={snapshot.project}
          count={snapshot.count}
          services={this.services}
        />
      </Boundary>
    );
  }

  private keepEnd(): void {
    const { model, snapshot, output } = this;
    if (model === null || snapshot === null || model.isOther) {
      return;
    }
    if (isLive(snapshot.table) && !isLive(model.table)) {
      const rows = model.table.rows.slice(0, KEPT_ROWS);
      const kept = { ...snapshot, table: { ...model.table, rows } };
      this.snapshot = kept;
      output?.keep(kept, sweepForms(model.table, snapshot.count));
    }
  }

  private output: IOutput | null = null;
  private snapshot: ISweepSnapshot | null = null;
  private model: SweepModel | null = null;
  private isSeen = false;
}

const KEPT_ROWS = 100;
