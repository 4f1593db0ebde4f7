import { backoff } from './backoff';
import type { AcaiError } from './errors';
import type { StreamState } from './eventStream';

/** Whether what was not answered may be answered when it is asked again: the server was away, or not ready. */
export function mayPass({ code, status }: AcaiError): boolean {
  const isAway = status === 0 && code !== 'page_fault';
  return isAway || status === 429 || status >= 500;
}

/** Asks again what was not answered: after pauses that grow, and at once when somebody says so. */
export class Retries {
  constructor(
    private readonly again: () => void,
    private readonly random: () => number = Math.random
  ) {}

  /** Whether something was not answered, and not asked again since. */
  get isOwed(): boolean {
    return this._isOwed;
  }

  /** It was not answered. Where that does not pass by itself, only `hurry` asks again. */
  fail(error: AcaiError): void {
    clearTimeout(this.timer);
    this._isOwed = !this.isDisposed;
    if (this._isOwed && mayPass(error)) {
      const pauseMs = backoff(this.failures, this.random);
      this.timer = setTimeout(() => {
        this.hurry();
      }, pauseMs);
      this.failures += 1;
    }
  }

  /** Ask now what is owed: the server is heard again, or somebody does not want to wait. */
  hurry(): void {
    if (this._isOwed) {
      clearTimeout(this.timer);
      this._isOwed = false;
      this.again();
    }
  }

  /** How the stream of events is: where they come through, so do answers. */
  hear(state: StreamState): void {
    if (state === 'live' || state === 'polling') {
      this.hurry();
    }
  }

  /** It was answered, or is not wanted any more. */
  rest(): void {
    clearTimeout(this.timer);
    this._isOwed = false;
    this.failures = 0;
  }

  /** Ask no more, also for what is not answered from now on. Safe to call twice. */
  dispose(): void {
    this.isDisposed = true;
    this.rest();
  }

  private _isOwed = false;
  private isDisposed = false;
  private failures = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
}
