import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { IJob } from '../../contract';
import type { IJobSnapshot, JobModel } from '../../core/jobModel';
import { isSame, readSnapshot } from '../../core/jobSnapshot';
import { hasEnded } from '../../core/jobText';
import { jobForms } from '../../core/plainForms';
import { Boundary } from '../boundary';
import type { IOutput, IView } from '../renderer';
import type { ViewServices } from '../services';
import { JobView } from './view';

/** One job in an output. How it ended is kept in the notebook, also when no kernel is there to do it. */
export class JobContent extends ReactWidget implements IView {
  constructor(private readonly services: ViewServices) {
    super();
    this.addClass('jp-AcaiJob');
  }

  present(output: IOutput): void {
    const snapshot = readSnapshot(output.data);
    this.output = output;
    const before = this.snapshot;
    if (before !== null && isSame(before, snapshot)) {
      this.snapshot = snapshot;
      if (hasEnded(snapshot.job)) {
        this.model?.accept(snapshot.job);
      }
      return;
    }
    this.letGo();
    this.snapshot = snapshot;
    this.model = this.services.store.acquire(snapshot);
    this.unsubscribe = this.model.subscribe(() => {
      this.keepEnd();
    });
    this.keepEnd(); // another view may have seen it before
    this.follow();
    this.update();
  }

  setSeen(isSeen: boolean): void {
    this.isSeen = isSeen;
    this.follow();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.letGo();
      super.dispose();
    }
  }

  protected override render(): React.ReactElement {
    const { model, snapshot } = this;
    if (model === null || snapshot === null) {
      return <></>;
    }
    return (
      <Boundary text={this.output?.text ?? ''}>
        <JobView
          key={`${snapshot.project}/${snapshot.number}`}
          model={model}
          snapshot={snapshot}
          services={this.services}
        />
      </Boundary>
    );
  }

  private follow(): void {
    this.unlook?.();
    this.unlook = null;
    if (this.isSeen && this.model !== null) {
      this.unlook = this.model.look();
    }
  }

  /** The notebook may have been closed when it ended: whoever sees the end first writes it down. */
  private keepEnd(): void {
    const { model, snapshot, output } = this;
    if (model === null || snapshot === null || model.identity !== 'same') {
      return;
    }
    if (hasEnded(model.job) && snapshot.job.state !== model.job.state) {
      const kept = { ...snapshot, job: slim(model.job) };
      this.snapshot = kept;
      output?.keep(kept, jobForms(kept));
    }
  }

  private letGo(): void {
    this.unlook?.();
    this.unlook = null;
    this.unsubscribe?.();
    if (this.snapshot !== null) {
      this.services.store.release(this.snapshot);
    }
    this.model = null;
  }

  private output: IOutput | null = null;
  private snapshot: IJobSnapshot | null = null;
  private model: JobModel | null = null;
  private isSeen = false;
  private unlook: (() => void) | null = null;
  private unsubscribe: (() => void) | null = null;
}

const KEPT_SAMPLES = 60;

/** What of a job a notebook keeps. */
export function slim(job: IJob): IJob {
  const attempts = job.attempts.slice(-5).map(one => {
    const samples = one.usage?.samples ?? [];
    const step = Math.max(1, Math.ceil(samples.length / KEPT_SAMPLES));
    const usage = one.usage
      ? { ...one.usage, samples: samples.filter((_, i) => i % step === 0) }
      : null;
    return { ...one, usage, environment: {} };
  });
  const attributes = Object.fromEntries(
    Object.entries(job.attributes ?? {}).slice(0, 20)
  );
  return { ...job, attempts, attributes };
}
