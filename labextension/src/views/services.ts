import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { PageConfig, URLExt } from '@jupyterlab/coreutils';
import { Token } from '@lumino/coreutils';

import { OPEN_JOB, OPEN_PROVENANCE } from '../commandIds';
import { projectToName } from '../connection/project';
import { JobsClient } from '../core/jobsClient';
import { JobStore } from '../core/jobStore';
import { logLink } from '../core/logLink';
import { Ticker } from '../core/ticker';
import { IAcaiConnection } from '../tokens';
import { Visibility } from './visibility';

/** Shows where a file set or a job of a project comes from. */
export type OpenProvenance = (spec: string, project: string) => void;

/** What all views of a page share: one connection, one store, one clock, one observer. */
export class ViewServices {
  constructor(
    readonly connection: IAcaiConnection,
    /** Null where nothing can. */
    readonly openProvenance: () => OpenProvenance | null,
    /** Show a job of a project in a tab. */
    readonly openJob: (job: number, project: string) => void
  ) {
    this.jobs = new JobsClient(connection.client);
    this.store = new JobStore({
      ask: (project, number) => this.jobs.job(project, number),
      follow: (project, listener) => connection.follow(project, listener)
    });
  }

  /** The address that opens a log at a line. */
  linkTo(job: number, attempt: number, line: number, project: string): string {
    const page = new URL(
      URLExt.join(PageConfig.getBaseUrl(), 'lab'),
      window.location.href
    ).href;
    const named = projectToName(this.connection, project);
    return logLink(page, { job, attempt, line, project: named });
  }

  readonly jobs: JobsClient;
  readonly store: JobStore;
  readonly ticker = new Ticker();
  readonly visibility = new Visibility();
}

export type IViewServices = ViewServices;

export const IViewServices = new Token<IViewServices>(
  'acai-jupyter:IViewServices',
  'The jobs that a page shows: each is followed once, whatever number of views it has.'
);

export const servicesPlugin: JupyterFrontEndPlugin<IViewServices> = {
  id: 'acai-jupyter:services',
  description: 'Provides the jobs that views, tabs and cells of a page follow.',
  autoStart: true,
  requires: [IAcaiConnection],
  provides: IViewServices,
  activate: (app: JupyterFrontEnd, connection: IAcaiConnection) => {
    const { commands } = app;
    return new ViewServices(
      connection,
      () =>
        commands.hasCommand(OPEN_PROVENANCE)
          ? (spec, project) =>
              void commands.execute(OPEN_PROVENANCE, { spec, project })
          : null,
      (job, project) =>
        void (
          commands.hasCommand(OPEN_JOB) &&
          commands.execute(OPEN_JOB, { job, project })
        )
    );
  }
};
