import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { IFindThings, IFoundPage } from '../../contract';
import { isListOf, isObject, isText } from '../../core/shapes';
import { Boundary } from '../boundary';
import type { IOutput, IView } from '../renderer';
import type { ViewServices } from '../services';
import { JobsModel } from './model';
import { JobsTable } from './table';

/** What a notebook keeps of a list of jobs: what was asked, and what was found. */
export interface IJobsSnapshot {
  project: string;
  request: IFindThings;
  page: IFoundPage;
}

/** A list of jobs in an output: asked for again when something happens to jobs while it is seen. */
export class JobsContent extends ReactWidget implements IView {
  constructor(private readonly services: ViewServices) {
    super();
    this.addClass('jp-AcaiJobs');
  }

  present(output: IOutput): void {
    const snapshot = readSnapshot(output.data);
    const { project, request, page } = snapshot;
    this.project = project;
    this.text = output.text;
    this.model?.dispose();
    this.model = new JobsModel(request, page, {
      find: asked => this.services.jobs.find(project, asked),
      follow: listener => this.services.connection.follow(project, listener)
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
    const { model, project } = this;
    return model === null ? (
      <></>
    ) : (
      <Boundary text={this.text}>
        <JobsTable model={model} project={project} services={this.services} />
      </Boundary>
    );
  }

  private model: JobsModel | null = null;
  private project = '';
  private text = '';
  private isSeen = false;
}

function readSnapshot(data: unknown): IJobsSnapshot {
  const isOne =
    isObject(data) &&
    isText(data.project) &&
    isObject(data.request) &&
    isObject(data.page) &&
    isListOf(data.page.columns, isText) &&
    isListOf(data.page.rows, isRow);
  if (!isOne) {
    throw new TypeError('This is no list of jobs.');
  }
  return data as unknown as IJobsSnapshot;
}

function isRow(row: unknown): boolean {
  return isObject(row) && isText(row.thing) && Array.isArray(row.values);
}
