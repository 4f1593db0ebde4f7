import type { IErrorBody, IErrorDetail } from '../contract';
import { trans } from './translation';

type Details = IErrorDetail['details'];

/** An error as a person reads it: a sentence, and where it helps the commands to run. */
export class AcaiError extends Error {
  override readonly name = 'AcaiError';

  constructor(
    /** Stable, and the same in every language: `not_ready`, `job_not_found`. */
    readonly code: string,
    message: string,
    /** The HTTP status, 0 when nothing answered. */
    readonly status: number,
    readonly details: Details = {},
    readonly commands: readonly string[] = []
  ) {
    super(message);
  }
}

export function serverUnreachable(): AcaiError {
  return new AcaiError(
    'server_unreachable',
    trans.__(
      'The Jupyter server cannot be reached. It may have stopped: start it again, then try again.'
    ),
    0
  );
}

export function serverSilent(): AcaiError {
  return new AcaiError(
    'server_unreachable',
    trans.__(
      'The Jupyter server has not answered for a minute. It may be busy, or the connection to it gone: try again.'
    ),
    0
  );
}

export function notEnabled(): AcaiError {
  return new AcaiError(
    'not_enabled',
    trans.__(
      'This Jupyter server runs without ACAI. Install it where the server runs, enable it, restart the server, then try again.'
    ),
    404,
    {},
    ['pip install acai-jupyter', 'jupyter server extension enable acai_server']
  );
}

/** The error that an answer tells of; one sentence per status when it did not come from ACAI. */
export async function errorFromResponse(
  response: Response
): Promise<AcaiError> {
  const body: unknown = await response.json().catch(() => null);
  if (isErrorBody(body)) {
    const { code, message, details } = body.error;
    if (code === 'not_signed_in') {
      // The server's words are for shells and kernels.
      return new AcaiError(code, signedOut(), response.status, details);
    }
    return new AcaiError(code, message, response.status, details);
  }
  return new AcaiError(
    'unexpected_answer',
    sentenceForStatus(response.status),
    response.status
  );
}

function sentenceForStatus(status: number): string {
  if (status === 401 || status === 403) {
    return signedOut();
  }
  if (status === 502 || status === 503 || status === 504) {
    return trans.__(
      'The Jupyter server does not answer at the moment. It may be starting: try again shortly.'
    );
  }
  return trans.__(
    'The Jupyter server answered with status %1 where ACAI was asked. Its log has the cause; then try again.',
    status
  );
}

function signedOut(): string {
  return trans.__(
    'You are signed out. Reload the page and sign in again; where a token was kept for another server, %1 in a terminal renews it.',
    'acai login'
  );
}

function isErrorBody(body: unknown): body is IErrorBody {
  const error = (body as Partial<IErrorBody> | null)?.error;
  return typeof error?.code === 'string' && typeof error.message === 'string';
}
