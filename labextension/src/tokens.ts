import { Token } from '@lumino/coreutils';
import type { ISignal } from '@lumino/signaling';

import type { IEvent } from './contract';
import type { AcaiClient } from './core/client';
import type { ConnectionState } from './core/connectionStore';

/** The one connection of a page to ACAI, for our panels and for other extensions. */
export interface IAcaiConnection {
  /** Typed access to the server; every failure is an `AcaiError`. */
  readonly client: AcaiClient;
  readonly state: ConnectionState;
  readonly stateChanged: ISignal<IAcaiConnection, ConnectionState>;
  /** What changed in the project, each event once and in order, while connected. */
  readonly eventReceived: ISignal<IAcaiConnection, IEvent>;
  /** Events were missed for good: whatever was read before is to be read anew. */
  readonly reloadNeeded: ISignal<IAcaiConnection, void>;
  /**
   * Ask the server what it is and follow its events. Resolves when `state` says how it went; never rejects.
   *
   * Call it when something is first shown, not at activation: the server opens its database at the first request.
   */
  connect(): Promise<void>;
}

export const IAcaiConnection = new Token<IAcaiConnection>(
  'acai-jupyter:IAcaiConnection',
  'The connection to ACAI: a typed client, its state and its events.'
);
