import { type IJobSnapshot, type IJobSource, JobModel } from './jobModel';

/** All jobs that the page shows. Each is one model, however many views it has. */
export class JobStore {
  constructor(private readonly source: IJobSource) {}

  /** The model of a job; give it back by `release`. */
  acquire(snapshot: IJobSnapshot): JobModel {
    const key = keyOf(snapshot);
    let held = this.held.get(key);
    if (held === undefined) {
      held = { model: new JobModel(snapshot, this.source), count: 0 };
      this.held.set(key, held);
    }
    held.count += 1;
    return held.model;
  }

  release(snapshot: IJobSnapshot): void {
    const key = keyOf(snapshot);
    const held = this.held.get(key);
    if (held !== undefined && (held.count -= 1) === 0) {
      this.held.delete(key);
      held.model.dispose();
    }
  }

  get size(): number {
    return this.held.size;
  }

  private readonly held = new Map<string, IHeld>();
}

interface IHeld {
  model: JobModel;
  count: number;
}

function keyOf(snapshot: IJobSnapshot): string {
  return `${snapshot.project}/${snapshot.number}/${snapshot.created_at}`;
}
