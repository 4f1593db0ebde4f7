// Generated from the contract by `make contract`; do not edit.

/** What is asked by POST and changes nothing, below a project. */
export const QUESTIONS: readonly string[] = [
  'compare',
  'drawings',
  'files/damage',
  'files/fetch',
  'find',
  'find/count',
  'predictions',
  'provisions',
  'resolve'
];

/**
 * What made file set versions: an upload, a creation from specs, or a job.
 * A job is an action from the moment it is submitted: without outputs while it runs, and when it made nothing.
 */
export interface IAction {
  id: string;
  kind: IActionKind;
  created_at: string;
  creator: string;
  inputs: IActionInput[];
  outputs: string[];
  partial?: string[];
  job?: IActionJob | null;
  more_inputs?: number;
}

/**
 * A file set version that went into an action, and as what.
 */
export interface IActionInput {
  file_set: string;
  role: IInputRole;
}

/**
 * What a drawing of an action that is a job, and the card beside it, show of the job.
 */
export interface IActionJob {
  number: number;
  name: string;
  state: IJobState;
  reason: string;
  command: string | string[];
  template: string;
  parameters: { [key: string]: string | number | boolean };
  group: string;
  attempts?: number;
  started_at?: string | null;
  ended_at?: string | null;
  run_seconds?: number | null;
  billed_seconds?: number | null;
  cost_usd?: number | null;
  answered_by?: number | null;
  deleted_at?: string | null;
  attributes?: { [key: string]: string | number | boolean | ITime };
  tags?: string[];
}

/**
 * What made a file set version.
 */
export type IActionKind = 'creation' | 'job' | 'upload';

/**
 * Tell of objects that have arrived. Telling twice is the same as telling once.
 */
export interface IAddObjects {
  objects: ISentObject[];
}

/**
 * All that was made of a file set version, directly or not: what would have to be made again if it changed.
 */
export interface IAffected {
  focus: string;
  sets: IFileSet[];
  jobs: IActionJob[];
  newest: string[];
  set_count: number;
  job_count: number;
  is_cut?: boolean;
}

/**
 * Something that was compared and is the same.
 */
export interface IAgreement {
  distance: number;
  what: string;
  value: string | number | boolean | null;
}

/**
 * From when on an alias stood for which version; none is when it was taken away.
 */
export interface IAliasChange {
  number: number;
  alias: string;
  version: number | null;
  creator: string;
  at: string;
}

/**
 * What the aliases of a name are now, and their changes, the newest first; `next` is the number to go on below.
 */
export interface IAliasPage {
  aliases: { [key: string]: number };
  changes: IAliasChange[];
  next?: number | null;
}

/**
 * The numbers of the objects that are recorded now.
 */
export interface IArrived {
  numbers: number[];
}

/**
 * A folder of the project, `/` or `/dir/`, as it was after a commit: how the server pins one.
 * Files that were deleted and brought back since count as there.
 */
export interface IAsOf {
  op: 'as_of';
  spec: string;
  commit: number;
}

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
  price_book?: number | null;
  log_bytes?: number | null;
  machine?: string;
  held?: string[];
  usage?: IUsage | null;
  transfer?: ITransfer | null;
  usd_per_hour?: number | null;
  environment?: { [key: string]: unknown };
  warnings?: string[];
  tag_misses?: string[];
}

/**
 * One thing that somebody did, or was refused. Entries are added, and never changed or removed.
 */
export interface IAuditEntry {
  number: number;
  at: string;
  user: string;
  action: string;
  thing: string;
  project: string;
  token: string;
  address: string;
  request_id: string;
  status: number;
}

/**
 * Entries, the newest first; `next` is the number to continue below.
 */
export interface IAuditPage {
  entries: IAuditEntry[];
  next?: number | null;
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
 * What may be spent, by all of a project or, with a name, by one user. Null is without a bound.
 */
export interface IBudget {
  user?: string | null;
  job_usd?: number | null;
  month_usd?: number | null;
  total_usd?: number | null;
  stops?: boolean;
}

/**
 * How one bound stands: what it is of, how much is spent, and what is left.
 */
export interface IBudgetLeft {
  name: string;
  limit_usd: number;
  spent_usd: number;
  stops: boolean;
  is_partial?: boolean;
}

/**
 * The budgets of the project and of who asks; to an admin, those of all users. `left` is for who asks.
 */
export interface IBudgetList {
  budgets: IBudget[];
  left: IBudgetLeft[];
}

/**
 * Something in which the lineages of two things differ.
 */
export interface ICause {
  distance: number;
  what: string;
  before: string | number | boolean | null;
  after: string | number | boolean | null;
  file_count?: number | null;
  paths?: string[];
  of?: [string, string];
}

/**
 * Who changed what on a thing, and when.
 */
export interface IChange {
  number: number;
  at: string;
  user: string;
  set: { [key: string]: string | number | boolean | ITime };
  deleted: string[];
  added_labels: string[];
  removed_labels: string[];
}

/**
 * Change attributes of many things, of all or, on any error, of none.
 */
export interface IChangeMetadata {
  changes: IThingChange[];
}

/**
 * Changes of one thing, the newest first; `next` is the number to continue below.
 */
export interface IChangePage {
  thing: string;
  changes: IChange[];
  next?: number | null;
}

/**
 * The things that are different now, as people write them; what was so already is not among them.
 */
export interface IChanged {
  things: string[];
}

/**
 * One thing that was looked at. What is said of it ends with what to do, unless it is well.
 */
export interface ICheck {
  name: string;
  finding: IFinding;
  said: string;
}

/**
 * What a server found of all it stands on. Who can fetch `probe_url` can fetch contents.
 */
export interface ICheckup {
  checks: ICheck[];
  probe_url?: string;
}

/**
 * One file or folder in a folder. A folder is there because files are below it, and has only its name.
 */
export interface IChild {
  name: string;
  kind: IChildKind;
  version?: number | null;
  size_bytes?: number | null;
  created_at?: string | null;
}

/**
 * What stands in a folder.
 */
export type IChildKind = 'file' | 'folder';

/**
 * A file that would go along as code, by its path in the working folder.
 */
export interface ICodeFile {
  path: string;
  sha256: string;
}

/**
 * Find what nothing refers to any more, and free it unless this is a dry run.
 * With `unknown`, find the objects of the whole store that no record of this database owns instead. They are deleted
 * only if `confirmed_count` is their number in an earlier list. Only global admins may ask for this.
 */
export interface ICollectGarbage {
  dry_run?: boolean;
  unknown?: boolean;
  confirmed_count?: number | null;
}

/**
 * One run of the collector: what it found and, unless it was a dry run, freed so far.
 */
export interface ICollection {
  id: string;
  state: ICollectionState;
  is_dry_run: boolean;
  started_at: string;
  step: string;
  garbage: IGarbage[];
  reason?: string;
  unknown?: IUnknownObject[];
}

/**
 * Where a collection is.
 */
export type ICollectionState = 'failed' | 'finished' | 'running';

/**
 * Give the files their versions.
 */
export interface ICommitUpload {
  objects?: ISentObject[];
}

/**
 * Ask how one content differs from another.
 */
export interface ICompareSources {
  before: (string | IWithout | IMatching | IAsOf)[];
  after: (string | IWithout | IMatching | IAsOf)[];
  start?: number;
  limit?: number;
}

/**
 * Differences by path; `next` is where to start again.
 */
export interface IComparison {
  added: number;
  removed: number;
  changed: number;
  renamed: number;
  renumbered: number;
  differences: IDifference[];
  pinned_before: (string | IWithout | IMatching | IAsOf)[];
  pinned_after: (string | IWithout | IMatching | IAsOf)[];
  next?: number | null;
}

/**
 * Names of file sets that hang together: the newest version of each, and what made those.
 */
export interface IComponent {
  nodes: INode[];
  actions: IAction[];
  links: ILink[];
  name_count: number;
}

/**
 * One condition on one key. `max` and `min` keep the one thing that has the most, or the least, of it.
 */
export interface ICondition {
  key: string;
  value?: string | number | boolean | null;
  range?: (string | number | boolean | null)[] | null;
  regex?: string | null;
  best?: 'max' | 'min' | null;
}

/**
 * A run that nobody has made yet: its parameters, and its share of a machine.
 */
export interface IConfiguration {
  parameters?: { [key: string]: string | number | boolean };
  resources?: IResources;
}

/**
 * What costs are added up by.
 */
export type ICostGroup = 'day' | 'job' | 'notebook' | 'tag' | 'user';

/**
 * What jobs have cost until now. `key` is empty for those without a notebook or label.
 */
export interface ICostRow {
  key: string;
  jobs: number;
  attempts: number;
  billed_seconds: number;
  cost_usd: number;
  live_jobs?: number;
}

/**
 * What the jobs of a project have cost, the dearest first, days in order; deleted jobs are in.
 * `next` says how many rows to skip to go on.
 */
export interface ICosts {
  by: ICostGroup;
  rows: ICostRow[];
  total: ICostRow;
  since?: string | null;
  until?: string | null;
  left?: IBudgetLeft[];
  next?: number | null;
}

/**
 * Ask how many things a query is true of, and how many of these have which value of some keys.
 */
export interface ICountThings {
  kind: ISubjectKind;
  query?: string;
  keys?: string[];
  limit?: number;
  utc_offset_seconds?: number;
}

/**
 * How many things a query is true of. Of `tags`, a thing counts for each of its labels.
 */
export interface ICounted {
  count: number;
  facets?: IFacet[];
}

/**
 * Make the next version of a name of these sources; with `if_changed` only when the newest holds something else.
 */
export interface ICreateFileSet {
  name: string;
  sources: (string | IWithout | IMatching | IAsOf)[];
  note?: string;
  if_changed?: boolean;
}

/**
 * Submit a job: a program over inputs, whose output folder becomes a file set.
 */
export interface ICreateJob {
  command: string | string[];
  as_cell?: boolean;
  name?: string;
  description?: string;
  inputs?: string[];
  code?: string | null;
  code_root?: string;
  variables?: string | null;
  variables_root?: string;
  receive?: string[];
  output?: string | null;
  output_folder?: string;
  output_root?: string | null;
  parameters?: { [key: string]: string | number | boolean };
  attributes?: { [key: string]: string | number | boolean | ITime };
  tags?: string[];
  environment?: { [key: string]: string };
  secrets?: { [key: string]: string };
  resources?: IResources;
  memory_as_used?: boolean;
  image?: string | null;
  lock?: ILock | null;
  nodes?: number;
  time_limit_seconds?: number | null;
  retries?: number;
  retry_failed?: boolean;
  priority?: number;
  keep_partial?: boolean;
  cached?: boolean;
  template?: string;
  captured?: { [key: string]: unknown };
}

/**
 * Make runs of a program with each value of its hints, on each share of a machine, or as many of them as it takes.
 * The profile that they make is `template` of the job.
 */
export interface ICreateProfiling {
  job: ICreateJob;
  values?: { [key: string]: (string | number | boolean)[] };
  design?: IDesign;
  vcpus?: number[];
  memories_bytes?: number[];
  max_seconds?: number | null;
  max_cost_usd?: number | null;
  sample?: ISample | null;
}

/**
 * A project to create, and who is to be its admin: whoever asks, unless somebody is named.
 */
export interface ICreateProject {
  name: string;
  admin?: string | null;
}

/**
 * Submit a job for each combination of values of parameters: all of them, or on any error none.
 */
export interface ICreateSweep {
  job: ICreateJob;
  values: { [key: string]: (string | number | boolean)[] };
}

/**
 * Ask where to send objects. Asked again for the same object, it answers with what is still missing.
 */
export interface ICreateTargets {
  objects: INewObject[];
}

/**
 * A token to make.
 */
export interface ICreateToken {
  name: string;
  scope?: IScope;
  expires_in_days?: number | null;
  all_projects?: boolean;
}

/**
 * Start an upload session, with a first page of names if you like.
 */
export interface ICreateUpload {
  files?: INewFile[];
  file_set?: string | null;
  only_changed?: boolean;
  storage?: IStorageClass;
  base?: string | null;
  label?: string;
  proof?: string;
}

/**
 * A user to be in the project. They get a token of it, which is in the answer and nowhere else.
 */
export interface ICreateUser {
  name: string;
  role?: IRole;
  quota?: number | null;
  expires_in_days?: number | null;
}

/**
 * A file set, and whether it was made just now or held the same already.
 */
export interface ICreatedFileSet {
  file_set: IFileSet;
  is_new: boolean;
  made_from: string[];
}

/**
 * A new project, its admin, and that admin's token of it if it is somebody else than who asked.
 */
export interface ICreatedProject {
  name: string;
  admin: string;
  issued: IIssuedToken | null;
}

/**
 * A user who is new in the project, and their first token of it.
 */
export interface ICreatedUser {
  user: IProjectUser;
  issued: IIssuedToken;
}

/**
 * Report files whose bytes were missing, too few, or not those of their hash.
 */
export interface IDamageReport {
  files: IReportedFile[];
}

/**
 * What the server found when it looked for itself.
 */
export interface IDamageVerdict {
  damaged: string[];
  is_pending?: boolean;
}

/**
 * Which of the possible runs are made.
 */
export type IDesign = 'adaptive' | 'full';

/**
 * A file that differs: what it was and what it is.
 */
export interface IDifference {
  kind: IDifferenceKind;
  before: IEntry | null;
  after: IEntry | null;
}

/**
 * How a file differs.
 */
export type IDifferenceKind = 'added' | 'changed' | 'removed' | 'renamed';

/**
 * Where a drawing is opened further.
 */
export type IDirection = 'back' | 'forward' | 'group';

/**
 * What a cell displayed, in order: MIME bundles with their metadata.
 */
export interface IDisplays {
  displays: { [key: string]: unknown }[];
}

/**
 * Ask for a drawing around a file set version or a job; without either, of the project.
 */
export interface IDrawGraph {
  focus: string;
  steps?: IStep[];
  path_to?: string;
  query?: string;
  places?: { [key: string]: [number, number] };
  before?: string | null;
  with_svg?: boolean;
  utc_offset_seconds?: number;
}

/**
 * A part of the graph with the middle of its focus at (0, 0), unless places were given.
 */
export interface IDrawing {
  focus: string;
  title: string;
  nodes: IDrawnNode[];
  edges: IDrawnEdge[];
  left: number;
  top: number;
  width: number;
  height: number;
  looks: ILook[];
  is_cut?: boolean;
  next?: string | null;
  svg?: string | null;
}

/**
 * A line from node to node: a chain of quadratic curves with these points, from middle to middle of each two.
 */
export interface IDrawnEdge {
  id: string;
  source: string;
  target: string;
  points: [number, number][];
  classes: string[];
  action: string;
}

/**
 * A node: its middle, its size, and what stands in it.
 */
export interface IDrawnNode {
  id: string;
  kind: IShapeKind;
  label: string;
  words: string;
  about: string;
  x: number;
  y: number;
  width: number;
  height: number;
  classes: string[];
  thing?: string;
  back?: number;
  forward?: number;
  count?: number;
  name?: string;
}

/**
 * A lift that is to end.
 */
export interface IEndLift {
  file_set: string;
}

/**
 * A restriction that is to end.
 */
export interface IEndRestriction {
  what: string;
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
 * How long one such job takes and what it costs, from earlier ones.
 * Where they differ in their parameters or machines, by their model, from the lower to the upper end of an interval
 * that holds four in five; else the middle, the fastest and the slowest of them.
 */
export interface IExpected {
  runs: number;
  seconds: number;
  min_seconds: number;
  max_seconds: number;
  cost_usd: number;
  min_cost_usd: number;
  max_cost_usd: number;
  outside?: string[];
  is_vague?: boolean;
  faster?: IOtherMachine | null;
  cheaper?: IOtherMachine | null;
  borrowed_from?: string;
  version?: string;
  advice?: string;
}

/**
 * How a lineage is written down for other programs.
 */
export type IExportFormat = 'dot' | 'graphml' | 'json' | 'openlineage' | 'prov';

/**
 * The values of one key, the most frequent first.
 */
export interface IFacet {
  key: string;
  values: IFacetValue[];
}

/**
 * A value, and how many things have it.
 */
export interface IFacetValue {
  value: string | number | boolean | ITime;
  count: number;
}

/**
 * Ask where the bytes of what a spec names can be fetched.
 */
export interface IFetchFiles {
  spec: string;
  after?: string;
  limit?: number;
  proof?: string;
}

/**
 * Files by path, and the URLs of the objects they are in.
 */
export interface IFetchPage {
  root: string;
  is_file: boolean;
  files: IPlace[];
  objects: string[];
  next?: string | null;
}

/**
 * Where a file version is from.
 */
export interface IFileOrigin {
  path: string;
  version: number;
  size_bytes: number;
  sha256: string;
  creator: string;
  created_at: string;
  through: string[];
  action?: IAction | null;
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
  note?: string;
  aliases?: string[];
  deleted_at?: string | null;
}

/**
 * File sets, the newest version of each name, by name.
 */
export interface IFileSetPage {
  file_sets: IFileSet[];
  next?: string | null;
}

/**
 * One version of a file. One that was deleted keeps its number and its hash.
 */
export interface IFileVersion {
  path: string;
  version: number;
  size_bytes: number;
  sha256: string;
  created_at: string;
  creator: string;
  storage: IStorageClass;
  deleted_at?: string | null;
}

/**
 * Ask for the things that a query, or a list of conditions in its place, is true of.
 */
export interface IFindThings {
  kind: ISubjectKind;
  query?: string;
  conditions?: ICondition[];
  columns?: string[];
  after?: string;
  limit?: number;
  utc_offset_seconds?: number;
  order?: IOrder[];
  skip?: number;
}

/**
 * How something is.
 */
export type IFinding = 'failed' | 'ok' | 'warning';

/**
 * Children of a folder by name; `next` is the name to continue after.
 */
export interface IFolderPage {
  path: string;
  children: IChild[];
  next?: string | null;
}

/**
 * One thing, with a value for each column; null where it has none.
 */
export interface IFound {
  thing: string;
  values: (string | number | boolean | string[] | ITime | null)[];
}

/**
 * A line of a log, by its number from 1 on: as it was printed where numbers were asked for, else without looks.
 */
export interface IFoundLine {
  number: number;
  text: string;
  before?: number;
  more?: number;
}

/**
 * Lines of a log: the first of those that were asked for, how many of these there are, and among how many.
 * One request reads a bounded part of a log. Where `next` is set the rest was not read yet: ask again with its
 * `offset` and `lines`, and add up what is found.
 */
export interface IFoundLines {
  lines: IFoundLine[];
  count: number;
  of: number;
  is_cut?: boolean;
  next?: ILogPlace | null;
}

/**
 * What was found, in the order asked for; `next` continues after it.
 */
export interface IFoundPage {
  kind: ISubjectKind;
  columns: string[];
  rows: IFound[];
  next?: string | null;
}

/**
 * What can go for one reason: how many things, and the bytes that are freed in the store or the database.
 */
export interface IGarbage {
  kind: IGarbageKind;
  count: number;
  size_bytes: number;
  examples?: string[];
}

/**
 * Why something can go.
 */
export type IGarbageKind = 'copies' | 'deleted_files' | 'deleted_jobs' | 'deleted_sets' | 'leftovers' | 'moved' | 'outdated_files' | 'outdated_sets' | 'packs' | 'unknown';

/**
 * A part of the provenance graph around `focus`: a file set version, or a job by its number.
 * Every data input and every output of an action in it is a node of it, and each is listed once.
 */
export interface IGraph {
  focus: string;
  nodes: INode[];
  actions: IAction[];
  is_cut?: boolean;
  next?: string | null;
}

/**
 * Users of a project who are named together.
 */
export interface IGroup {
  name: string;
  users: string[];
}

/**
 * The groups of a project, by name; `next` is the name to go on behind.
 */
export interface IGroupList {
  groups: IGroup[];
  next?: string | null;
}

/**
 * A server that answers.
 */
export interface IHealth {
  status?: 'ok';
}

/**
 * In which role a file set went into an action.
 */
export type IInputRole = 'code' | 'data' | 'variables';

/**
 * A token that was just made. `secret` is shown this once.
 */
export interface IIssuedToken {
  token: IToken;
  secret: string;
}

/**
 * One run of a program. What was asked for never changes; the state and the attempts do.
 */
export interface IJob {
  number: number;
  name: string;
  user: string;
  state: IJobState;
  reason: string;
  command: string | string[];
  inputs: string[];
  code: string | null;
  output: string | null;
  parameters: { [key: string]: string | number | boolean };
  resources: IResources;
  created_at: string;
  attempts: IAttempt[];
  nodes?: number;
  attributes?: { [key: string]: string | number | boolean | ITime };
  tags?: string[];
  variables?: string | null;
  receive?: string[];
  description?: string;
  partial?: string | null;
  ended_at?: string | null;
  waiting?: IWaiting | null;
  priority?: number;
  has_displays?: boolean;
  expected_seconds?: number | null;
  answered_by?: number | null;
  saved_seconds?: number | null;
  saved_usd?: number | null;
  less_memory?: ILessMemory | null;
  deleted_at?: string | null;
  kill_asked_at?: string | null;
}

/**
 * Jobs, the newest first; `next` is the number to continue below.
 */
export interface IJobPage {
  jobs: IJob[];
  next?: number | null;
}

/**
 * All that is needed to run a job again: what was asked for, with every input by its version.
 */
export interface IJobRequest {
  number: number;
  request: ICreateJob;
  inputs: string[];
  environment: { [key: string]: unknown };
}

/**
 * Where a job is in its life.
 */
export type IJobState = 'crashed' | 'downloading' | 'failed' | 'finished' | 'killed' | 'launching' | 'queued' | 'running' | 'uploading';

/**
 * What is as it was, and why.
 */
export interface IKeptFile {
  spec: string;
  reason: string;
}

/**
 * Keys by name: what completion offers.
 */
export interface IKeyList {
  keys: IKnownKey[];
}

/**
 * End many jobs.
 */
export interface IKillJobs {
  jobs: number[];
}

/**
 * Which jobs were asked to end, and which had ended before.
 */
export interface IKilledJobs {
  asked: number[];
  ended: number[];
}

/**
 * A key that can be used, and by whom it is given: the system, somebody here, or nobody yet.
 */
export interface IKnownKey {
  key: string;
  source: 'built_in' | 'used' | 'well_known';
  type?: IValueType | null;
}

/**
 * Something that would not go along, and why.
 */
export interface ILeftOut {
  name: string;
  reason: string;
}

/**
 * With how much less memory a job would have had enough, and how much less it would have cost.
 */
export interface ILessMemory {
  memory_bytes: number;
  saved_usd: number;
}

/**
 * Why a file set is open though it was made of what is restricted: `model` in all versions, or `model:3`.
 */
export interface ILift {
  file_set: string;
  reason: string;
  creator: string;
  at: string;
  ended_at: string | null;
}

/**
 * Lifts, the newest first, those that were ended too; `next` is the number to go on below.
 */
export interface ILiftList {
  lifts: ILift[];
  next?: number | null;
}

/**
 * A file set, `model`, or one version of it, that is to be open whatever it was made of.
 */
export interface ILiftRestrictions {
  file_set: string;
  reason: string;
}

/**
 * Where to go from a file set version.
 */
export type ILineageDirection = 'back' | 'forward';

/**
 * Some version of one name was made of some version of another.
 */
export interface ILink {
  source: string;
  target: string;
}

/**
 * Which packages an environment has, each in one version, as `uv pip compile` writes it down.
 */
export interface ILock {
  requirements: string;
  python: string;
  interpreter?: string;
}

/**
 * The original's model: seconds as a factor times powers of numbers, and times a factor for each word.
 */
export interface ILogLinear {
  factor_seconds: number;
  exponents: { [key: string]: number };
  factors: { [key: string]: number };
  r_squared: number;
}

/**
 * A stretch of a job's log. `ended` says that nothing will follow.
 */
export interface ILogPage {
  text: string;
  next_offset: number;
  ended: boolean;
  attempt?: number;
  displays?: number;
}

/**
 * A place in a log where a line begins: a byte, and the number of lines before it.
 */
export interface ILogPlace {
  offset: number;
  lines: number;
}

/**
 * How nodes or edges of a class look; of several that fit the later ones win.
 */
export interface ILook {
  name: string;
  fill?: string;
  line?: string;
  text?: string;
  line_width?: number;
  dashed?: boolean;
  faded?: boolean;
  shape?: string;
  dark_fill?: string;
  dark_line?: string;
  dark_text?: string;
}

/**
 * What the runner can hold at once.
 */
export interface IMachine {
  cpus: number;
  memory_bytes: number;
  gpus?: number;
}

/**
 * A machine of a fixed shape, as a whole for its price.
 */
export interface IMachineType {
  name: string;
  vcpu: number;
  memory_bytes: number;
  usd_per_hour: number;
  gpus?: number;
  gpu_type?: string;
}

/**
 * The sources that a file set version was made of, every set and file by its version.
 * None where it was not made of sources, or of more than are kept.
 */
export interface IMadeOf {
  sources: (string | IWithout | IMatching | IAsOf)[] | null;
}

/**
 * The files of some sources whose paths fit a pattern.
 * `*` and `?` stand for what is between two '/', `**` for any number of folders, `[abc]` and `[!abc]` for one
 * character; a pattern that ends in '/' means all below that folder.
 */
export interface IMatching {
  op: 'matching';
  of: (string | IWithout | IMatching | IAsOf)[];
  pattern: string;
}

/**
 * All that is known of one thing by key.
 */
export interface IMetadata {
  thing: string;
  kind: ISubjectKind;
  attributes: { [key: string]: string | number | boolean | ITime };
  tags: string[];
  built_in: { [key: string]: string | number | boolean | string[] | ITime | null };
  parameters?: { [key: string]: string | number | boolean | ITime };
}

/**
 * Something in which a job differs from an earlier one, so that this one's result could not answer it.
 */
export interface IMiss {
  what: string;
  earlier: string;
  now: string;
}

/**
 * Why a job was not answered by an earlier result: the nearest earlier job, and what differs.
 */
export interface IMissReport {
  nearest: number | null;
  differences: IMiss[];
  sentence: string;
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
 * One object that is going to be sent: a large file, or a pack of small ones.
 * With `part_bytes` it travels in parts of that size, and its hash is told when it has arrived.
 */
export interface INewObject {
  number: number;
  size_bytes: number;
  sha256?: string | null;
  part_bytes?: number | null;
}

/**
 * A file set version in the graph; one with a `deleted_at` is a tombstone.
 */
export interface INode {
  file_set: IFileSet;
  distance?: number;
  more_back?: number;
  more_forward?: number;
  attributes?: { [key: string]: string | number | boolean | ITime };
  tags?: string[];
}

/**
 * One key to order by. Things without it come last either way.
 */
export interface IOrder {
  key: string;
  descending?: boolean;
}

/**
 * Another share of a machine, and what the job would take and cost on it.
 */
export interface IOtherMachine {
  resources: IResources;
  seconds: number;
  cost_usd: number;
}

/**
 * The jobs that hold a machine, those that wait, and those that ended last; of each only some are told in full.
 */
export interface IOverview {
  running: IJob[];
  waiting: IJob[];
  recent: IJob[];
  states: { [key: string]: number };
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
 * Where to send one part. With an `etag` one has arrived before; whose it is knows who sent it.
 */
export interface IPartTarget {
  number: number;
  offset: number;
  size_bytes: number;
  url: string;
  headers?: { [key: string]: string };
  etag?: string | null;
}

/**
 * All that lies between two file set versions, and the shortest ways from the earlier to the later one.
 */
export interface IPaths {
  source: string;
  target: string;
  nodes: INode[];
  actions: IAction[];
  count: number;
  paths: string[][];
  is_cut?: boolean;
}

/**
 * One file to fetch: a byte range of one of the page's objects.
 */
export type IPlace = [string, number, number, string, number, number];

/**
 * What would happen. What only the submitting side knows, code and environment, it adds itself.
 */
export interface IPlan {
  jobs: number;
  template: string;
  inputs: IPlannedInput[];
  output: string | null;
  resources: IResources;
  runner: string;
  usd_per_hour: number;
  at_once: number;
  expected?: IExpected | null;
  waiting?: IWaiting | null;
  answered_by?: number[];
  code?: IPlannedCode | null;
  environment?: IPlannedEnvironment | null;
  left?: IBudgetLeft[];
  variables?: IPlannedVariable[];
}

/**
 * Ask what would happen. `code` of the job is left out: its files are named instead, as they are not sent yet.
 */
export interface IPlanJob {
  job: ICreateJob;
  code?: ICodeFile[];
  variables?: ICodeFile[];
  values?: { [key: string]: (string | number | boolean)[] };
}

/**
 * What would go along.
 */
export interface IPlannedCode {
  program: string;
  file_count: number;
  size_bytes: number;
  modules?: string[];
  modules_bytes?: number;
  largest?: IPlannedPart[];
  left_out?: ILeftOut[];
  more_left_out?: number;
}

/**
 * What it would run with.
 */
export interface IPlannedEnvironment {
  python: string;
  package_count?: number | null;
  image?: string | null;
  is_cached?: boolean;
}

/**
 * A set as a job would get it; what several specs hold together has no name yet.
 */
export interface IPlannedInput {
  file_set: string | null;
  file_count: number;
  size_bytes: number;
  is_there: boolean;
}

/**
 * Something among the code, and how much it is.
 */
export interface IPlannedPart {
  name: string;
  file_count: number;
  size_bytes: number;
}

/**
 * A variable that a cell would be sent.
 */
export interface IPlannedVariable {
  name: string;
  type: string;
  size_bytes: number;
}

/**
 * Ask how long runs of a template will take, and what they will cost.
 */
export interface IPredictRuns {
  template: string;
  runs: IConfiguration[];
  coverage?: number;
  version?: string;
}

/**
 * The billed seconds and the cost of a run: the middle, and an interval.
 */
export interface IPrediction {
  resources: IResources;
  seconds: number;
  low_seconds: number;
  high_seconds: number;
  cost_usd: number;
  low_cost_usd: number;
  high_cost_usd: number;
  outside?: string[];
  is_vague?: boolean;
}

/**
 * What is said of runs, and by what.
 */
export interface IPredictions {
  template: string;
  runs: number;
  version: string;
  model: number;
  predictions: IPrediction[];
  advice?: string;
  borrowed_from?: string;
}

/**
 * What a share of a machine costs: by its vCPU, its GB of memory (1,024 MB) and its GPUs, or by machine types.
 * Where there are machine types, a share costs what the cheapest one does that holds it.
 */
export interface IPriceBook {
  vcpu?: IRate;
  memory_gb?: IRate;
  gpus?: { [key: string]: number };
  machines?: IMachineType[];
}

/**
 * A price book, of which runner and region, and since when it is known.
 */
export interface IPriceBookVersion {
  version: number;
  runner: string;
  region: string;
  book: IPriceBook;
  created_at: string;
}

/**
 * The version that attempts run under now, and all that any ran under, the newest first.
 */
export interface IPriceBooks {
  version: number;
  books: IPriceBookVersion[];
}

/**
 * What is known of a template.
 */
export interface IProfile {
  template: string;
  runs: number;
  finished_at: string;
  latest: number;
}

/**
 * The model of a template: which forms it believes, and how far off they are.
 */
export interface IProfileDetails {
  template: string;
  runs: IUsedRun[];
  version: string;
  known_at: string;
  model: number;
  form: string;
  form_outside: string;
  log_linear: string;
  coefficients: ILogLinear | null;
  errors: { [key: string]: number };
  ranges: { [key: string]: string };
  hints: string[];
  borrowed_from?: string;
}

/**
 * Templates with finished runs, the newest first; `next` is the job's number to go on below.
 */
export interface IProfileList {
  profiles: IProfile[];
  next?: number | null;
}

/**
 * Runs that are being made. They bear a tag, by which they are watched, waited for and ended as a sweep is.
 */
export interface IProfiling {
  template: string;
  tag: string;
  design: IDesign;
  candidates: number;
  sentence: string;
  is_over?: boolean;
}

/**
 * What a profiling would be. Times and costs of all possible runs are there when earlier ones tell.
 */
export interface IProfilingPlan {
  template: string;
  design: IDesign;
  candidates: number;
  at_once: number;
  known_runs?: number;
  seconds?: number | null;
  cost_usd?: number | null;
}

/**
 * A project as somebody sees it; `role` is theirs, or null for a global admin who is not in it.
 */
export interface IProject {
  name: string;
  role: IRole | null;
  created_at: string;
}

/**
 * A page of a project's graph by names, what changed last first; `next` is the file set to continue before.
 */
export interface IProjectGraph {
  components: IComponent[];
  next?: string | null;
}

/**
 * The projects that one is in, by name; a global admin sees the names of all.
 * `next` is the name to go on behind.
 */
export interface IProjectList {
  projects: IProject[];
  next?: string | null;
}

/**
 * A user in a project. Without a quota of their own the server's counts.
 */
export interface IProjectUser {
  name: string;
  role: IRole;
  quota: number | null;
  last_used_at: string | null;
}

/**
 * The machine to take. Without one within the bounds `chosen` is missing, and `nearest` is what comes closest.
 */
export interface IProvision {
  template: string;
  parameters: { [key: string]: string | number | boolean };
  runs: number;
  version: string;
  model: number;
  chosen: IPrediction | null;
  nearest: IPrediction;
  neighbours: IPrediction[];
  front: IPrediction[];
  machines: number;
  sentence: string;
  latest: number;
  max_seconds?: number | null;
  max_cost_usd?: number | null;
  is_sure?: boolean;
  borrowed_from?: string;
  as_in_latest?: string[];
  bound?: string;
  larger?: IPrediction | null;
}

/**
 * Ask for the machine for a run: the cheapest within a time, the fastest within a cost.
 */
export interface IProvisionJob {
  template: string;
  parameters?: { [key: string]: string | number | boolean };
  max_seconds?: number | null;
  max_cost_usd?: number | null;
  confidence?: number | null;
  nodes?: number;
  as_latest?: boolean;
}

/**
 * A price per unit and hour, dearer per unit as the machine grows.
 * It rises linearly from `low` times `usd` where a machine has `smallest` units to `high` times `usd` where it has
 * `largest`; below and above it stays.
 */
export interface IRate {
  usd: number;
  smallest: number;
  largest: number;
  low?: number;
  high?: number;
}

/**
 * A server that can serve.
 */
export interface IReadiness {
  status?: 'ok';
  warning?: string;
  damaged_files?: number | null;
}

/**
 * Delete a version, or all versions of a name that is given without one; with `undo` bring them back.
 * `files` also deletes the file versions that no other file set holds, but not the newest of a path.
 */
export interface IRemoveFileSets {
  undo?: boolean;
  files?: boolean;
}

/**
 * Delete the version that a spec names, all versions of a file, or with `undo` take that back.
 */
export interface IRemoveFiles {
  spec: string;
  undo?: boolean;
}

/**
 * Delete a job that has ended, or with `undo` bring it back.
 */
export interface IRemoveJob {
  undo?: boolean;
}

/**
 * Do the same with many; those that cannot be deleted stay.
 */
export interface IRemoveManyFiles {
  specs: string[];
  undo?: boolean;
}

/**
 * What was deleted, or is back.
 */
export interface IRemoved {
  path: string;
  versions: number[];
}

/**
 * What was deleted, or is back.
 */
export interface IRemovedFileSets {
  file_sets: string[];
  file_versions: number;
  undo_until?: string | null;
}

/**
 * What became of many.
 */
export interface IRemovedFiles {
  removed: IRemoved[];
  kept: IKeptFile[];
}

/**
 * A file version that a reader could not read.
 */
export interface IReportedFile {
  path: string;
  version: number;
}

/**
 * Ask which file versions sources are, after a path; `counted` wants their number and size too.
 */
export interface IResolveSources {
  sources: (string | IWithout | IMatching | IAsOf)[];
  after?: string;
  limit?: number;
  counted?: boolean;
}

/**
 * File versions by path; `next` is the path to continue after. Later pages are asked for by `pinned` sources.
 */
export interface IResolved {
  entries: IEntry[];
  pinned: (string | IWithout | IMatching | IAsOf)[];
  made_from: string[];
  next?: string | null;
  file_count?: number | null;
  size_bytes?: number | null;
}

/**
 * Between what, and in which steps, a job can ask for a share of a machine.
 */
export interface IResourceLimits {
  min_vcpu?: number;
  max_vcpu?: number;
  vcpu_step?: number;
  min_memory_bytes?: number;
  max_memory_bytes?: number;
  memory_step_bytes?: number;
  max_gpus?: number;
}

/**
 * The share of a machine that a job asks for. What can be had is for the server's settings to say.
 */
export interface IResources {
  vcpu?: number;
  memory_bytes?: number;
  gpus?: number;
  max_memory_bytes?: number | null;
  gpu_type?: string;
}

/**
 * A restriction as it is to be: it takes the place of one of the same name or folder.
 */
export interface IRestrict {
  what: string;
  readers?: string[];
  writers?: string[];
}

/**
 * A name of file sets, `@patients`, or a folder, `/clinical/`, that only some may read or write.
 * Users stand by name, groups as `group:name`. Who writes reads; an admin does both.
 */
export interface IRestriction {
  what: string;
  readers: string[];
  writers: string[];
  creator: string;
  created_at: string;
}

/**
 * Restrictions that one may see behind, by what they restrict; `next` is what to go on behind.
 */
export interface IRestrictionList {
  restrictions: IRestriction[];
  next?: string | null;
}

/**
 * What a project keeps of old versions. A version that any of the rules keeps stays; without rules all stay.
 * What has an alias or a label, or an open job uses, always stays, and so does the newest of each name.
 */
export interface IRetention {
  keep_last?: number | null;
  keep_days?: number | null;
  files?: boolean;
}

/**
 * What a user may do in a project.
 */
export type IRole = 'admin' | 'member' | 'viewer';

/**
 * Some of the files of the inputs, kept as file sets, and how much they are of all.
 */
export interface ISample {
  inputs: string[];
  size_bytes: number;
  file_count: number;
  of_bytes: number;
  of_files: number;
}

/**
 * What a token may be used for, of what its user may do.
 */
export type IScope = 'admin' | 'read' | 'write';

/**
 * An object that has arrived, and what is in it.
 */
export interface ISentObject {
  number: number;
  size_bytes: number;
  sha256: string | null;
  blobs: IPackedBlob[];
  parts?: ISentPart[];
}

/**
 * A part that has arrived.
 */
export interface ISentPart {
  number: number;
  etag: string;
}

/**
 * What is to be different of the budget of a project, or of one user. Null takes a bound away.
 */
export interface ISetBudget {
  user?: string | null;
  job_usd?: number | null;
  month_usd?: number | null;
  total_usd?: number | null;
  stops?: boolean;
}

/**
 * Who is to be in a group.
 */
export interface ISetGroup {
  users: string[];
}

/**
 * What a node of a drawing is. Each has a shape and a word of its own, beside its colour.
 */
export type IShapeKind = 'creation' | 'file-set' | 'group' | 'job' | 'source' | 'upload';

/**
 * An ID token of the issuer, or the token of one's own server of JupyterHub; and which project to open.
 */
export interface ISignIn {
  id_token?: string | null;
  hub_token?: string | null;
  project?: string | null;
}

/**
 * How one can sign in here without a token of ACAI's. An empty `issuer`: not by OpenID Connect.
 */
export interface ISignInWays {
  issuer: string;
  client_id: string;
  scope: string;
  jupyterhub: boolean;
}

/**
 * A page of names. The same name again in a session replaces what was said of it.
 */
export interface IStageFiles {
  files?: INewFile[];
  removed?: string[];
  anew?: boolean;
}

/**
 * The positions, in the page, of files whose bytes the store does not have.
 */
export interface IStaged {
  missing: number[];
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
  store?: IStore;
  limits?: IResourceLimits;
  notices?: string[];
  left?: IBudgetLeft[];
}

/**
 * A node that was opened: a file set, or a group by its id.
 */
export interface IStep {
  node: string;
  direction: IDirection;
}

/**
 * How soon and how often bytes will be read, which decides what keeping them costs.
 */
export type IStorageClass = 'archive' | 'frequent' | 'infrequent';

/**
 * Where bytes rest. Who can read the proof file shares the store's disk, and may move bytes without HTTP.
 */
export interface IStore {
  kind: string;
  proof_file?: string | null;
  part_bytes?: number | null;
}

/**
 * What attributes stand on.
 */
export type ISubjectKind = 'file' | 'file_set' | 'job';

/**
 * How the jobs of a sweep stand. A sweep is the jobs that have its tag; deleted ones are left out.
 */
export interface ISweep {
  tag: string;
  jobs: number[];
  states: { [key: string]: number };
  cost_usd?: number;
  goes_on?: boolean;
  sentence?: string;
  has_failed?: boolean | null;
}

/**
 * One job of a sweep: what it was given, and what became of it.
 */
export interface ISweepRow {
  job: number;
  state: IJobState;
  reason: string;
  parameters: { [key: string]: string | number | boolean };
  attributes: { [key: string]: string | number | boolean | ITime };
  created_at: string;
  output?: string | null;
  billed_seconds?: number | null;
  cost_usd?: number | null;
}

/**
 * The jobs of a sweep by number. Its columns are what they differ in, and what was attached to any of them.
 */
export interface ISweepTable {
  tag: string;
  parameters: string[];
  metrics: string[];
  rows: ISweepRow[];
}

/**
 * Where to send one object: a signed URL and the headers that belong to its signature, or its parts.
 */
export interface ITarget {
  number: number;
  key: string;
  url?: string;
  headers?: { [key: string]: string };
  parts?: IPartTarget[];
  has_arrived?: boolean;
  may_exist?: boolean;
}

/**
 * One target for each object asked about, in the same order.
 */
export interface ITargetList {
  targets: ITarget[];
}

/**
 * What to change on one thing: a job's number, a file set like `model:2`, or a file version like `/data.csv:3`.
 */
export interface IThingChange {
  thing: string;
  set?: { [key: string]: string | number | boolean | ITime };
  delete?: string[];
  add_labels?: string[];
  remove_labels?: string[];
  expect?: { [key: string]: string | number | boolean | ITime | null };
}

/**
 * A moment, told from a text by its shape: `{"time": "2026-11-01T12:00:00Z"}`.
 */
export interface ITime {
  time: string;
}

/**
 * What is known of a token; of the token itself only a hash is kept.
 */
export interface IToken {
  name: string;
  user: string;
  project: string;
  scope: IScope;
  all_projects: boolean;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
}

/**
 * Tokens that are valid, and those that have expired, by name; `next` is the name to go on behind.
 */
export interface ITokenList {
  tokens: IToken[];
  next?: string | null;
}

/**
 * How far an attempt is in fetching its inputs or keeping its outputs, as its agent says.
 */
export interface ITransfer {
  state: IJobState;
  done_bytes: number;
  total_bytes: number;
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
 * An object of the store that no record of this database owns.
 */
export interface IUnknownObject {
  key: string;
  size_bytes: number;
  modified_at: string;
}

/**
 * Change what is not content.
 */
export interface IUpdateFileSet {
  note: string;
  expect?: string | null;
}

/**
 * What is to be different of a user. `quota` null is the server's own again.
 */
export interface IUpdateUser {
  role?: IRole;
  quota?: number | null;
}

/**
 * An upload session.
 */
export interface IUpload {
  id: string;
  state: IUploadState;
  label: string;
  creator: string;
  created_at: string;
  touched_at: string;
  staged_files: number;
  sent_bytes: number;
  file_set?: string | null;
  base?: string | null;
  next_object?: number;
  folder?: string | null;
  missing?: number[];
}

/**
 * Upload sessions, the newest first; `next` is the id of the one to go on behind.
 */
export interface IUploadList {
  uploads: IUpload[];
  next?: string | null;
}

/**
 * What a commit did; asking again answers the same.
 */
export interface IUploadResult {
  id: string;
  new_files: number;
  unchanged_files: number;
  size_bytes: number;
  sent_bytes?: number;
  file_set?: string | null;
}

/**
 * Where an upload session is.
 */
export type IUploadState = 'aborted' | 'committed' | 'pending';

/**
 * What a program used. `samples` are seconds since its start, CPUs, bytes of memory, bytes of disk, GPUs.
 */
export interface IUsage {
  cpu_seconds?: number | null;
  max_memory_bytes?: number | null;
  max_disk_bytes?: number | null;
  samples?: [number, number, number, number, number][];
}

/**
 * A run that a model was fitted to, and what the model says of it.
 */
export interface IUsedRun {
  job: number;
  parameters: { [key: string]: string | number | boolean };
  resources: IResources;
  seconds: number;
  predicted_seconds: number;
  is_bound?: boolean;
  has_other_code?: boolean;
}

/**
 * A person or program in a project.
 */
export interface IUser {
  name: string;
  role: IRole;
}

/**
 * The users of a project, by name; `next` is the name to go on behind.
 */
export interface IUserList {
  users: IProjectUser[];
  next?: string | null;
}

/**
 * What a value is. Values of different types are never equal, and neither is the greater.
 */
export type IValueType = 'boolean' | 'list' | 'number' | 'reference' | 'text' | 'time';

/**
 * Versions of a file, the newest first.
 */
export interface IVersionPage {
  path: string;
  versions: IFileVersion[];
  next?: number | null;
}

/**
 * The versions of one name, the newest first, the deleted ones too; `next` is the number to continue below.
 */
export interface IVersionsPage {
  file_sets: IFileSet[];
  next?: number | null;
}

/**
 * Why a queued job waits.
 */
export interface IWaiting {
  sentence: string;
  place: number;
  starts_at?: string | null;
}

/**
 * In what the lineages of two sets or jobs differ, the nearest cause first.
 */
export interface IWhyDifferent {
  before: string;
  after: string;
  causes: ICause[];
  same: IAgreement[];
  jobs: [number | null, number | null];
  is_cut?: boolean;
}

/**
 * The files of some sources whose paths others do not have.
 */
export interface IWithout {
  op: 'without';
  of: (string | IWithout | IMatching | IAsOf)[];
  without: (string | IWithout | IMatching | IAsOf)[];
}
