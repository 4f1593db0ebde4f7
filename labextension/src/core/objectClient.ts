import type { AcaiClient } from './client';
import { AcaiError } from './errors';
import { trans } from './translation';

/** Where the server's own signed URLs stand below its base. */
const OWN = /\/acai\/api\/(v1\/objects\/[^?]+\?.*)$/;

/** What looks at a store, as it is typed. */
const DOCTOR = 'acai doctor';

/** Bytes by signed URLs: from the store, or from the page's own server, whatever name that is reached by. */
export class ObjectClient {
  constructor(
    private readonly client: AcaiClient,
    private readonly outside: typeof fetch = (input, init) => fetch(input, init)
  ) {}

  /** The bytes of an object from one place to another, the last included. */
  async read(
    url: string,
    first: number,
    last: number,
    signal?: AbortSignal
  ): Promise<ArrayBuffer> {
    const answer = await this.send(url, {
      headers: { Range: `bytes=${first}-${last}` },
      ...(signal === undefined ? {} : { signal })
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
        trans.__(
          'The store answered with status %1. Try again; %2 looks at the store.',
          answer.status,
          DOCTOR
        ),
        answer.status
      );
    }
    return answer;
  }
}

function unreachable(): AcaiError {
  return new AcaiError(
    'store_unreachable',
    trans.__(
      'The store cannot be reached from this page. Its bucket may not let pages read and send by CORS, which %1 tells; notebooks and shells can.',
      DOCTOR
    ),
    0
  );
}
