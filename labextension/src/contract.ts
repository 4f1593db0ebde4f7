// Generated from the contract by `make contract`; do not edit.

/**
 * What made file set versions: an upload, a creation from specs, or a job.
 */
export interface IAction {
  id: number;
  kind: IActionKind;
  created_at: string;
  creator: string;
  inputs: IActionInput[];
  outputs: string[];
  job?: number | null;
}

/**
 * A file set version that went into an action, and as what.
 */
export interface IActionInput {
  file_set: string;
  role: IInputRole;
}

/**
 * What made a file set version.
 */
export type IActionKind = 'creation' | 'job' | 'upload';

/**
 * One try at running a job.
 */
export interface IAttempt {
  number: number;
  runner: string;
  vcpu: number;
  memory_bytes: number;
  transitions: ITransition[];
  exit_code?: number | null;
  run_seconds?: number | null;
  billed_seconds?: number | null;
  cost_usd?: number | null;
}

/**
 * The name of the backend behind each protocol.
 */
export interface IBackends {
  database: string;
  object_store: string;
  runner: string;
  event_bus: string;
}

/**
 * Give the files their versions, and with a name make a file set of them.
 */
export interface ICommitUpload {
  objects?: ISentObject[];
  file_set?: string | null;
  only_changed?: boolean;
}

/**
 * Submit a job: a command over input file sets, whose `output/` becomes a file set.
 */
export interface ICreateJob {
  command: string[];
  name?: string;
  inputs?: string[];
  code?: string | null;
  code_root?: string;
  output?: string | null;
  parameters?: { [key: string]: string | number | boolean };
  environment?: { [key: string]: string };
  resources?: IResources;
  captured?: { [key: string]: unknown };
}

/**
 * Ask where to send objects.
 */
export interface ICreateTargets {
  objects: INewObject[];
}

/**
 * Start an upload session with all its names.
 */
export interface ICreateUpload {
  files: INewFile[];
}

/**
 * One file version in a file set.
 */
export interface IEntry {
  path: string;
  version: number;
  size_bytes: number;
  sha256: string;
}

/**
 * Entries of a file set by path; `next` is the path to continue after.
 */
export interface IEntryPage {
  entries: IEntry[];
  next?: string | null;
}

/**
 * The one shape of every error.
 */
export interface IErrorBody {
  error: IErrorDetail;
}

/**
 * What went wrong, in a stable code and a sentence.
 */
export interface IErrorDetail {
  code: string;
  message: string;
  details: { [key: string]: unknown };
}

/**
 * One change. `subject` is the thing as people write it: `job 3`, `model:1`.
 */
export interface IEvent {
  number: number;
  kind: string;
  subject: string;
  created_at: string;
  details?: { [key: string]: unknown };
}

/**
 * Events after a number. `reload` says that older ones are gone: read the state anew and go on from `last`.
 */
export interface IEventPage {
  events: IEvent[];
  last: number;
  reload?: boolean;
}

/**
 * One version of a file set.
 */
export interface IFileSet {
  name: string;
  version: number;
  file_count: number;
  size_bytes: number;
  created_at: string;
  creator: string;
  role?: IInputRole;
}

/**
 * File sets, the newest version of each name, by name.
 */
export interface IFileSetPage {
  file_sets: IFileSet[];
  next?: string | null;
}

/**
 * A part of the provenance graph around `focus`.
 */
export interface IGraph {
  focus: string;
  nodes: IFileSet[];
  actions: IAction[];
}

/**
 * In which role a file set went into an action.
 */
export type IInputRole = 'code' | 'data' | 'variables';

/**
 * One run of a program. What was asked for never changes; the state and the attempts do.
 */
export interface IJob {
  number: number;
  name: string;
  user: string;
  state: IJobState;
  reason: string;
  command: string[];
  inputs: string[];
  code: string | null;
  output: string | null;
  parameters: { [key: string]: string | number | boolean };
  resources: IResources;
  created_at: string;
  attempts: IAttempt[];
  attributes?: { [key: string]: string | number | boolean };
}

/**
 * Jobs, the newest first; `next` is the number to continue below.
 */
export interface IJobPage {
  jobs: IJob[];
  next?: number | null;
}

/**
 * Where a job is in its life.
 */
export type IJobState = 'crashed' | 'downloading' | 'failed' | 'finished' | 'killed' | 'launching' | 'queued' | 'running' | 'uploading';

/**
 * A stretch of a job's log. `ended` says that nothing will follow.
 */
export interface ILogPage {
  text: string;
  next_offset: number;
  ended: boolean;
}

/**
 * What the runner can hold at once.
 */
export interface IMachine {
  cpus: number;
  memory_bytes: number;
}

/**
 * One file that an upload session is about.
 */
export interface INewFile {
  path: string;
  size_bytes: number;
  sha256: string;
}

/**
 * One object that the client is going to send: a large file, or a pack of small ones.
 */
export interface INewObject {
  size_bytes: number;
  sha256: string;
}

/**
 * One content inside an object: a byte range with its hash.
 */
export interface IPackedBlob {
  sha256: string;
  offset: number;
  size_bytes: number;
}

/**
 * The share of a machine that a job asks for.
 */
export interface IResources {
  vcpu?: number;
  memory_bytes?: number;
}

/**
 * What a user may do in a project.
 */
export type IRole = 'admin' | 'member' | 'viewer';

/**
 * An object that has arrived, and what is in it.
 */
export interface ISentObject {
  key: string;
  size_bytes: number;
  sha256: string;
  blobs: IPackedBlob[];
}

/**
 * What one is connected to. `mode` is 'attached' when another server of the same user has the data.
 */
export interface IStatus {
  version: string;
  mode: 'attached' | 'serving';
  project: string;
  user: IUser;
  data_folder: string | null;
  backends: IBackends;
  machine: IMachine;
  started_at: string;
  notices?: string[];
}

/**
 * Where to send one object: a signed URL and the headers that belong to its signature.
 */
export interface ITarget {
  key: string;
  url: string;
  headers?: { [key: string]: string };
}

/**
 * One target for each object asked about, in the same order.
 */
export interface ITargetList {
  targets: ITarget[];
}

/**
 * One step of a job's life.
 */
export interface ITransition {
  state: IJobState;
  at: string;
  reason?: string;
}

/**
 * An upload session. `missing` lists the hashes whose bytes the store does not have yet.
 */
export interface IUpload {
  id: string;
  state: IUploadState;
  missing?: string[];
}

/**
 * What a commit did; asking again answers the same.
 */
export interface IUploadResult {
  id: string;
  new_files: number;
  unchanged_files: number;
  size_bytes: number;
  file_set?: string | null;
}

/**
 * Where an upload session is.
 */
export type IUploadState = 'aborted' | 'committed' | 'pending';

/**
 * A person or program in a project.
 */
export interface IUser {
  name: string;
  role: IRole;
}
