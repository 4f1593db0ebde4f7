import type { AcaiClient } from './client';
import { AcaiError } from './errors';

/** Where the server's own signed URLs stand below its base. */
const OWN = /\/acai\/api\/(v1\/objects\/[^?]+\?.*)$/;

/** Bytes by signed URLs: from the store, or from the page's own server, whatever name that is reached by. */
export class ObjectClient {
  constructor(
    private readonly client: AcaiClient,
    private readonly outside: typeof fetch = (input, init) => fetch(input, init)
  ) {}

  /** The bytes of an object from one place to another, the last included. */
  async read(url: string, first: number, last: number): Promise<ArrayBuffer> {
    const answer = await this.send(url, {
      headers: { Range: `bytes=${first}-${last}` }
    });
    return answer.arrayBuffer();
  }

  /** Sends an object, or a part of one; returns the mark that the store gives it. */
  async write(
    url: string,
    headers: { [name: string]: string },
    body: Blob,
    signal: AbortSignal
  ): Promise<string> {
    const answer = await this.send(url, {
      method: 'PUT',
      headers,
      body,
      signal
    });
    return (answer.headers.get('ETag') ?? '').replaceAll('"', '');
  }

  private async send(url: string, init: RequestInit): Promise<Response> {
    const own = OWN.exec(url)?.[1];
    if (own !== undefined) {
      return this.client.response(own, init);
    }
    let answer: Response;
    try {
      answer = await this.outside(url, {
        ...init,
        credentials: 'omit',
        cache: 'no-store'
      });
    } catch (error) {
      if (init.signal?.aborted === true) {
        throw error;
      }
      throw unreachable();
    }
    if (!answer.ok) {
      throw new AcaiError(
        'store_refused',
        `The store answered with status ${answer.status}. Try again; acai doctor looks at the store.`,
        answer.status
      );
    }
    return answer;
  }
}

function unreachable(): AcaiError {
  return new AcaiError(
    'store_unreachable',
    'The store cannot be reached from this page. Its bucket may not let pages read and send by CORS, which acai doctor tells; notebooks and shells can.',
    0
  );
}
