import type { IDisposable } from '@lumino/disposable';

import type { Ran } from '../core/runCell';
import type { IViewServices } from '../views/services';
import { SweepModel } from '../views/sweep/model';

/** A job or sweep that a cell became, followed from now on. */
export interface IFollowedRun extends IDisposable {
  /** Whether it, or one of its jobs, may still change by itself. */
  readonly isLive: boolean;
  subscribe(listener: () => void): () => void;
}

export function followRun(ran: Ran, services: IViewServices): IFollowedRun {
  return ran.kind === 'job'
    ? followJob(ran.snapshot, services)
    : followSweep(ran.snapshot, services);
}

function followJob(
  snapshot: Extract<Ran, { kind: 'job' }>['snapshot'],
  { store }: IViewServices
): IFollowedRun {
  const model = store.acquire(snapshot);
  const unlook = model.look();
  return following(model, () => {
    unlook();
    store.release(snapshot);
  });
}

function followSweep(
  { project, table }: Extract<Ran, { kind: 'sweep' }>['snapshot'],
  { connection, jobs }: IViewServices
): IFollowedRun {
  const model = new SweepModel(table, {
    ask: () => jobs.sweep(project, table.tag),
    follow: listener => connection.follow(project, listener)
  });
  model.setSeen(true);
  return following(model, () => {
    model.dispose();
  });
}

function following(
  model: Omit<IFollowedRun, keyof IDisposable>,
  end: () => void
): IFollowedRun {
  let isDisposed = false;
  return {
    get isDisposed() {
      return isDisposed;
    },
    get isLive() {
      return model.isLive;
    },
    subscribe: listener => model.subscribe(listener),
    dispose: () => {
      if (!isDisposed) {
        isDisposed = true;
        end();
      }
    }
  };
}
