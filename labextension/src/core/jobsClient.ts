import type {
  ICreateJob,
  IFoundLines,
  IFindThings,
  IFoundPage,
  IJob,
  IJobRequest,
  ILogPage,
  ISweep,
  ISweepTable
} from '../contract';
import type { AcaiClient } from './client';
import { isGiven } from './given';
import type { ILogQuestion } from './logSearch';

/** What views ask of the server about jobs. */
export class JobsClient {
  constructor(private readonly client: AcaiClient) {}

  job(project: string, number: number): Promise<IJob> {
    return this.client.request(`${jobs(project)}/${number}`);
  }

  kill(project: string, number: number): Promise<IJob> {
    return this.client.request(`${jobs(project)}/${number}/kill`, {
      method: 'POST'
    });
  }

  /** Submits the same once more: a set without a version means its newest one now. */
  async runAgain(project: string, number: number): Promise<IJob> {
    const asked = await this.client.request<IJobRequest>(
      `${jobs(project)}/${number}/request`
    );
    return this.post(jobs(project), asked.request);
  }

  log(
    project: string,
    number: number,
    attempt: number,
    offset: number
  ): Promise<ILogPage> {
    const query = `attempt=${attempt}&offset=${offset}`;
    return this.client.request(`${jobs(project)}/${number}/log?${query}`);
  }

  /** What one bounded request finds; `next` of the answer says where to continue. */
  searchLog(
    project: string,
    number: number,
    attempt: number,
    question: ILogQuestion
  ): Promise<IFoundLines> {
    const { text, near, from, signal } = question;
    const places = Object.entries({ ...near, ...from }).map(
      ([name, value]) => `&${name}=${String(value)}`
    );
    const query = `attempt=${attempt}&text=${encodeURIComponent(text)}`;
    const path = `${jobs(project)}/${number}/log/lines?${query}`;
    return this.client.request(path + places.join(''), { signal });
  }

  /** Lines from a number on, as they were printed. */
  logLines(
    project: string,
    number: number,
    attempt: number,
    first: number,
    limit: number
  ): Promise<IFoundLines> {
    const query = `attempt=${attempt}&first=${first}&limit=${limit}`;
    return this.client.request(`${jobs(project)}/${number}/log/lines?${query}`);
  }

  /** The first line that reports an error, if one does; asks until the whole log was read. */
  async firstError(
    project: string,
    number: number,
    attempt: number
  ): Promise<IFoundLines> {
    const path = `${jobs(project)}/${number}/log/lines?attempt=${attempt}&error=true`;
    let found: IFoundLines = await this.client.request(path);
    while (isGiven(found.next)) {
      const { offset, lines } = found.next;
      found = await this.client.request(
        `${path}&offset=${offset}&lines=${lines}`
      );
    }
    return found;
  }

  /** All of it, byte for byte. */
  async wholeLog(
    project: string,
    number: number,
    attempt: number
  ): Promise<Blob> {
    const path = `${jobs(project)}/${number}/log.txt?attempt=${attempt}`;
    return (await this.client.response(path)).blob();
  }

  sweep(project: string, tag: string): Promise<ISweepTable> {
    return this.client.request(
      `${base(project)}/sweeps/${encodeURIComponent(tag)}/table`
    );
  }

  /** Ends all jobs of a sweep. */
  killSweep(project: string, tag: string): Promise<ISweep> {
    return this.client.request(
      `${base(project)}/sweeps/${encodeURIComponent(tag)}/kill`,
      { method: 'POST' }
    );
  }

  find(project: string, request: IFindThings): Promise<IFoundPage> {
    return this.post(`${base(project)}/find`, request);
  }

  private post<T>(path: string, body: ICreateJob | IFindThings): Promise<T> {
    return this.client.request(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body)
    });
  }
}

function base(project: string): string {
  return `v1/projects/${encodeURIComponent(project)}`;
}

function jobs(project: string): string {
  return `${base(project)}/jobs`;
}
