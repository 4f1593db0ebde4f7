import { Token } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

import type { IEvent, IProject } from './contract';
import type { AcaiClient } from './core/client';
import type { ConnectionState } from './core/connectionStore';
import type { IEventListener, IFollowing } from './core/eventStreams';
import type { OverviewStore } from './core/overviewStore';

/** The one connection of a page to ACAI, for our panels and for other extensions. Its project is the chosen one. */
export interface IAcaiConnection extends IProjectConnection {
  /** The projects that somebody can choose. */
  projects(): Promise<IProject[]>;
  /** Show another project from now on, also when the page is loaded anew. Rejects with an `AcaiError`. */
  choose(project: string): Promise<void>;
  /** The project that was chosen last and is not there any more; empty when there is none. */
  readonly missing: string;
  /** The connection as it is in a project, whichever is chosen; empty for the chosen one. To be disposed by who asked. */
  inProject(project: string): IProjectConnection & IDisposable;
}

/** The connection as it is in one project. */
export interface IProjectConnection {
  /** Typed access to the server; every failure is an `AcaiError`. */
  readonly client: AcaiClient;
  readonly state: ConnectionState;
  readonly stateChanged: ISignal<IProjectConnection, ConnectionState>;
  /** What changed in the project, each event once and in order, while connected. */
  readonly eventReceived: ISignal<IProjectConnection, IEvent>;
  /** Whatever was read before is to be read anew: events begin here, or were missed for good. */
  readonly reloadNeeded: ISignal<IProjectConnection, void>;
  /**
   * Ask the server what it is and follow its events. Resolves when `state` says how it went; never rejects.
   *
   * Call it when something is first shown, not at activation: the server opens its database at the first request.
   */
  connect(): Promise<void>;
  /**
   * Hear what happens in a project, whichever it is, until that is given up. All who follow a project share a stream, which
   * is closed when nobody does any more.
   */
  follow(project: string, listener: IEventListener): IFollowing;
}

export const IAcaiConnection = new Token<IAcaiConnection>(
  'acai-jupyter:IAcaiConnection',
  'The connection to ACAI: a typed client, its state and its events.'
);

/** A part of the sidebar's panel, below a heading that opens and closes it. */
export interface IAcaiPanelSection {
  title: string;
  /** Where it stands: what has less is above. */
  rank: number;
  /** Whether it is open when the page is loaded. */
  isOpen: boolean;
  /** Called once, when it can first be seen. */
  load: () => Promise<Widget>;
}

/** The sidebar's panel, for those who have something to show in it. */
export interface IAcaiPanel {
  addSection(section: IAcaiPanelSection): void;
  /** A few characters on the panel's icon, as `3`; with none it goes. */
  setBadge(text: string): void;
}

export const IAcaiPanel = new Token<IAcaiPanel>(
  'acai-jupyter:IAcaiPanel',
  'The panel of ACAI in the left sidebar, to which sections can be added.'
);

/** The project's jobs at a glance, followed while somebody looks at the page. */
export interface IAcaiOverview {
  readonly store: OverviewStore;
}

export const IAcaiOverview = new Token<IAcaiOverview>(
  'acai-jupyter:IAcaiOverview',
  'How many jobs run and wait, which ended last, and what today cost.'
);
