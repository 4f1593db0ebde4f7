import {
  type IEventPage,
  type IProject,
  type IProjectList,
  type IStatus,
  QUESTIONS
} from '../contract';
import {
  AcaiError,
  errorFromResponse,
  notEnabled,
  serverSilent,
  serverUnreachable
} from './errors';

/** After so long nobody expects an answer to begin any more. What changes something is left to end as it will. */
const PATIENCE_MS = 60_000;

/** For this long a request that is refused with 429 is repeated. */
const HELD_BACK_MS = 30_000;

/** How requests leave the page. Paths are relative to `acai/api/`. */
export interface ITransport {
  /** Rejects only when nothing answered; every status is a response. */
  fetch(path: string, init: RequestInit): Promise<Response>;
  openSocket(path: string): WebSocket;
}

/** Typed access to the server; every failure is an `AcaiError`. */
export class AcaiClient {
  constructor(private readonly transport: ITransport) {}

  /** Of a project, else of the usual one. */
  async status(project = ''): Promise<IStatus> {
    const path =
      project === ''
        ? 'v1/status'
        : `v1/projects/${encodeURIComponent(project)}/status`;
    try {
      return await this.request<IStatus>(path);
    } catch (error) {
      throw isMissingRoute(error) ? notEnabled() : error;
    }
  }

  /** The projects that one is in, by name. */
  async projects(): Promise<IProject[]> {
    const found: IProject[] = [];
    let next: string | null | undefined = '';
    while (typeof next === 'string') {
      const after: string =
        next === '' ? '' : `?after=${encodeURIComponent(next)}`;
      const page: IProjectList = await this.request(`v1/projects${after}`);
      found.push(...page.projects.filter(one => one.role !== null));
      next = page.next;
    }
    return found;
  }

  /** What such a socket would tell, asked for once. */
  events(project: string, since: number | null): Promise<IEventPage> {
    const query = since === null ? '' : `?since=${since}`;
    return this.request(
      `v1/projects/${encodeURIComponent(project)}/events${query}`
    );
  }

  /** A socket of pages of events after `since`; with null, of those from now on. */
  openEvents(project: string, since: number | null): WebSocket {
    const query = since === null ? '' : `?since=${since}`;
    return this.transport.openSocket(
      `v1/projects/${encodeURIComponent(project)}/events/stream${query}`
    );
  }

  async request<T>(path: string, init: RequestInit = {}): Promise<T> {
    const response = await this.send(path, init);
    if (!response.ok) {
      throw await errorFromResponse(response);
    }
    try {
      return (await response.json()) as T;
    } catch {
      // A proxy's sign-in page, for one, comes as 200 and HTML.
      throw await errorFromResponse(response);
    }
  }

  /** What the server answers that is no JSON. */
  async text(path: string): Promise<string> {
    return (await this.response(path)).text();
  }

  /** An answer whose body is anything. */
  async response(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await this.send(path, init);
    if (!response.ok) {
      throw await errorFromResponse(response);
    }
    return response;
  }

  /** After a refusal for too many requests it waits as long as the server says, and asks again. */
  private async send(path: string, init: RequestInit): Promise<Response> {
    const deadline = Date.now() + HELD_BACK_MS;
    for (;;) {
      const response = await this.sendOnce(path, init);
      const pauseMs = 1_000 * Number(response.headers.get('Retry-After'));
      const isPassing = pauseMs > 0 && Date.now() + pauseMs <= deadline;
      if (response.status !== 429 || !isPassing) {
        return response;
      }
      await new Promise(resolve => setTimeout(resolve, pauseMs));
    }
  }

  private async sendOnce(path: string, init: RequestInit): Promise<Response> {
    const patience = new AbortController();
    const isRead =
      (init.method ?? 'GET') === 'GET' ||
      QUESTIONS.some(question => path.endsWith(`/${question}`));
    const timer = setTimeout(() => {
      patience.abort();
    }, PATIENCE_MS);
    try {
      const { signal } = patience;
      return await this.transport.fetch(
        path,
        isRead ? { signal, ...init } : init
      );
    } catch (error) {
      if (init.signal?.aborted) {
        throw error;
      }
      throw patience.signal.aborted ? serverSilent() : serverUnreachable();
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Whether the answer to a route that every ACAI has was somebody else's 404. */
function isMissingRoute(error: unknown): boolean {
  return (
    error instanceof AcaiError &&
    error.status === 404 &&
    error.code === 'unexpected_answer'
  );
}
