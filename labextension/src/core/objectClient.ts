import type { AcaiClient } from './client';
import { TOO_SHORT } from './damage';
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

  /** The bytes of an object from one place to another, the last included; never fewer. */
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
    const bytes = await received(answer, signal);
    if (bytes.byteLength < last - first + 1) {
      throw new AcaiError(
        TOO_SHORT,
        trans.__(
          'The stored object ends before the bytes that were asked for.'
        ),
        409
      );
    }
    return bytes;
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

/** The whole body. Browsers reject one that ends before its announced length: then the connection was cut. */
async function received(
  answer: Response,
  signal?: AbortSignal
): Promise<ArrayBuffer> {
  try {
    return await answer.arrayBuffer();
  } catch (error) {
    if (signal?.aborted === true) {
      throw error;
    }
    throw new AcaiError(
      'store_unreachable',
      trans.__('The connection to the store was cut. Try again.'),
      0
    );
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
