import type {
  IArrived,
  ICreateUpload,
  INewFile,
  INewObject,
  ISentObject,
  IStaged,
  ITarget,
  ITargetList,
  IUpload,
  IUploadResult
} from '../contract';
import type { AcaiClient } from './client';
import { AcaiError } from './errors';
import { trans } from './translation';

/** A server that is away for a moment, as while it restarts, is asked again after these. */
const PAUSES_MS = [250, 500, 1_000, 2_000, 4_000];

/** What an upload asks of the server. All of it may be asked twice, and is when nobody answers. */
export class UploadClient {
  constructor(
    private readonly client: AcaiClient,
    private readonly project: string
  ) {}

  create(request: ICreateUpload): Promise<IUpload> {
    return this.send('POST', '', request);
  }

  find(id: string): Promise<IUpload> {
    return this.send('GET', `/${id}`);
  }

  stage(id: string, files: INewFile[], anew: boolean): Promise<IStaged> {
    return this.send('POST', `/${id}/files`, { files, anew });
  }

  async target(id: string, object: INewObject): Promise<ITarget> {
    const { targets } = await this.send<ITargetList>('POST', `/${id}/targets`, {
      objects: [object]
    });
    const [found] = targets;
    if (found === undefined) {
      throw new AcaiError(
        'page_fault',
        trans.__('There is nowhere to send this.'),
        0
      );
    }
    return found;
  }

  arrived(id: string, object: ISentObject): Promise<IArrived> {
    return this.send('POST', `/${id}/objects`, { objects: [object] });
  }

  commit(id: string): Promise<IUploadResult> {
    return this.send('POST', `/${id}/commit`, {});
  }

  abort(id: string): Promise<unknown> {
    return this.send('DELETE', `/${id}`);
  }

  private send<T>(method: string, path: string, body?: object): Promise<T> {
    const base = `v1/projects/${encodeURIComponent(this.project)}/uploads`;
    return patiently(() =>
      this.client.request<T>(`${base}${path}`, {
        method,
        headers: { 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
    );
  }
}

/** Do something again that failed because nobody answered. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (const pause of PAUSES_MS) {
    try {
      return await work();
    } catch (error) {
      if (!isAway(error)) {
        throw error;
      }
      await new Promise(resolve => setTimeout(resolve, pause));
    }
  }
  return work();
}

function isAway(error: unknown): boolean {
  return (
    error instanceof AcaiError && [0, 429, 502, 503, 504].includes(error.status)
  );
}
