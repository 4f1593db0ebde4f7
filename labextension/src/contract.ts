// Generated from the contract by `make contract`; do not edit.

/** The name of the backend behind each protocol. */
export interface IBackends {
  database: string;
  object_store: string;
  runner: string;
  event_bus: string;
}

/** The one shape of every error. */
export interface IErrorBody {
  error: IErrorDetail;
}

/** What went wrong, in a stable code and a sentence. */
export interface IErrorDetail {
  code: string;
  message: string;
  details: { [key: string]: unknown };
}

/** One change. `subject` is the thing as people write it: `job 3`, `model:1`. */
export interface IEvent {
  number: number;
  kind: string;
  subject: string;
  created_at: string;
  details?: { [key: string]: unknown };
}

/** Events after a number. `reload` says that older ones are gone: read the state anew and go on from `last`. */
export interface IEventPage {
  events: IEvent[];
  last: number;
  reload?: boolean;
}

/** What the runner can hold at once. */
export interface IMachine {
  cpus: number;
  memory_bytes: number;
}

/** What one is connected to. `mode` is 'attached' when another server of the same user has the data. */
export interface IStatus {
  version: string;
  mode: 'serving' | 'attached';
  project: string;
  user: IUser;
  data_folder: string | null;
  backends: IBackends;
  machine: IMachine;
  started_at: string;
  notices?: string[];
}

/** A person or program in a project. */
export interface IUser {
  name: string;
  role: 'viewer' | 'member' | 'admin';
}
