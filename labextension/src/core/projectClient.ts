import type {
  ICreateJob,
  IChangeMetadata,
  IChanged,
  ICosts,
  ICounted,
  ICountThings,
  IFindThings,
  IFoundPage,
  IJob,
  IJobRequest,
  IKeyList,
  IKilledJobs,
  IKillJobs,
  IOverview,
  IPlan,
  IPlanJob,
  IProfileDetails,
  IProvision,
  IProvisionJob
} from '../contract';
import type { AcaiClient } from './client';
import { clauseFor } from './queryText';

/** What panels ask of the server about one project, whichever it is when they ask. */
export class ProjectClient {
  constructor(
    private readonly client: AcaiClient,
    private readonly project: () => string
  ) {}

  /** At most so many jobs of each kind. */
  overview(limit = 20): Promise<IOverview> {
    return this.get(`overview?limit=${limit}`);
  }

  /** What the jobs submitted since then have cost, by day. */
  costs(since: Date): Promise<ICosts> {
    return this.get(
      `costs?${query({ by: 'day', since: since.toISOString() })}`
    );
  }

  job(number: number): Promise<IJob> {
    return this.get(`jobs/${number}`);
  }

  /** Submit a job. */
  submit(request: ICreateJob): Promise<IJob> {
    return this.post('jobs', request);
  }

  /** All that is needed to run a job again. */
  asked(number: number): Promise<IJobRequest> {
    return this.get(`jobs/${number}/request`);
  }

  /** For how long a job was to be billed, by the model of its kind; null where there is none, or it does not know the job. */
  async predicted(number: number): Promise<number | null> {
    const template = await this.templateOf(number);
    if (template === null) {
      return null;
    }
    const known = await this.get<IProfileDetails>(
      `profile?${query({ template })}`
    );
    const run = known.runs.find(one => one.job === number);
    return run?.predicted_seconds ?? null;
  }

  /** The last job of the same kind that finished, of those that were submitted before this one; null where there is none. */
  async finishedBefore(number: number): Promise<IJob | null> {
    const template = await this.templateOf(number);
    if (template === null) {
      return null;
    }
    const wanted = [
      clauseFor('template', template),
      clauseFor('state', 'finished'),
      `number < ${number}`
    ];
    const found = await this.find({
      kind: 'job',
      query: wanted.join(' and '),
      order: [{ key: 'number', descending: true }],
      limit: 1
    });
    const last = found.rows[0]?.thing;
    return last === undefined ? null : this.job(Number(last));
  }

  /** Deletes a job that has ended, or brings it back. */
  remove(number: number, undo: boolean): Promise<IJob> {
    return this.post(`jobs/${number}/remove`, { undo });
  }

  /** What would happen if this was submitted now. */
  plan(body: IPlanJob): Promise<IPlan> {
    return this.post('plans', body);
  }

  /** The machine for a run, and all those that are worth thinking of. */
  provision(body: IProvisionJob): Promise<IProvision> {
    return this.post('provisions', body);
  }

  find(request: IFindThings): Promise<IFoundPage> {
    return this.post('find', request);
  }

  count(request: ICountThings): Promise<ICounted> {
    return this.post('find/count', request);
  }

  /** Keys of jobs that begin so: what completion offers. */
  keys(prefix: string, limit: number): Promise<IKeyList> {
    return this.get(
      `metadata/keys?${query({ kind: 'job', prefix, limit: String(limit) })}`
    );
  }

  /** Ends jobs; those that have ended stay as they are. */
  kill(request: IKillJobs): Promise<IKilledJobs> {
    return this.post('jobs/kill', request);
  }

  /** Changes attributes and labels: of all things, or of none. */
  tag(request: IChangeMetadata): Promise<IChanged> {
    return this.post('metadata', request);
  }

  private async templateOf(number: number): Promise<string | null> {
    const found = await this.find({
      kind: 'job',
      query: `number = ${number}`,
      columns: ['template']
    });
    const template = found.rows[0]?.values[0];
    return typeof template === 'string' ? template : null;
  }

  private get<T>(path: string): Promise<T> {
    return this.client.request(`${this.base}/${path}`);
  }

  private post<T>(path: string, body: object): Promise<T> {
    return this.client.request(`${this.base}/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body)
    });
  }

  private get base(): string {
    return `v1/projects/${encodeURIComponent(this.project())}`;
  }
}

function query(words: { [name: string]: string }): string {
  return new URLSearchParams(words).toString();
}
