/**
 * Commands that plugins of ours call of each other; who calls one asks first whether it is there. Those that show something of a
 * project take `project`, where it is another than the chosen one.
 */
export const OPEN_PANEL = 'acai:open-panel';
/** With `project`: shows another one from now on; without, asks which. */
export const SWITCH_PROJECT = 'acai:switch-project';
/** With `job`: its number; with `line` and, if any, `attempt`, its log at that line. */
export const OPEN_JOB = 'acai:open-job';
/** Of the page's own address. */
export const OPEN_LINKED_JOB = 'acai:open-linked-job';
/** With `query`, if any: which jobs. */
export const OPEN_JOBS = 'acai:open-jobs';
/** With `before` and `after`: the numbers of two jobs. */
export const COMPARE_JOBS = 'acai:compare-jobs';
/** With `spec`: a file set like `model:2`, or a job's number, else the whole project. */
export const OPEN_PROVENANCE = 'acai:open-provenance';
/** Makes the active cell run as a job, or as it did before. */
export const RUN_AS_JOB = 'acai:run-as-job';
/** Of what was clicked with the right button. */
export const SHOW_PROVENANCE = 'acai:show-provenance';
/** Shows the sidebar of files and file sets. */
export const OPEN_DATA = 'acai:open-data';
/** With `path`: a file and its versions in a tab. */
export const OPEN_FILE = 'acai:open-file';
/** With `path`, `version` and, if any, `part`: what it holds, in JupyterLab's own viewer. */
export const OPEN_FILE_VERSION = 'acai:open-file-version';
/** With `path`, `before` and `after`: in which lines two versions of a file differ. */
export const COMPARE_VERSIONS = 'acai:compare-versions';
/** With `name` and, if any, `version`: a file set and its versions in a tab. */
export const OPEN_SET = 'acai:open-set';
/** With `before` and `after`, like `train:1`: in which files two file sets differ. */
export const COMPARE_SETS = 'acai:compare-sets';
/** With `spec`, if any: add an input to the line of the active cell that runs as a job. */
export const USE_AS_INPUT = 'acai:use-as-input';
/** Opens the options of the active cell's job above the cell, which runs as a job from then on. */
export const EDIT_JOB = 'acai:edit-job';
/** Writes the line that submits a script or notebook of the file browser into a notebook, and opens its options. */
export const SUBMIT_FILE = 'acai:submit-file';
