import type { IJobSnapshot } from './jobModel';
import { readSnapshot } from './jobSnapshot';
import { quoted } from './shellWords';
import { type ISweepSnapshot, readSweep } from './sweepSnapshot';

/** What makes a cell run as a job. */
export const RUN_LINE = '%%acai run';
export const LOAD_LINE = '%load_ext acai_jupyter';
export const JOB_TYPE = 'application/vnd.acai.job+json';
export const SWEEP_TYPE = 'application/vnd.acai.sweep+json';

const RUN = /^\s*%%acai\s+run(?![\w-])/;
const DOUBLED = /^\s*(%%acai run(?: --project \S+)?)(?!\S)[^\n]*(\n\1)(?!\S)/;
const OTHER_MAGIC = /^\s*%%/;
const LOADED = /^[^\S\n]*%(?:load|reload)_ext[^\S\n]+acai_jupyter\b/m;
const ONLY_LOADS = /^\s*%(?:load|reload)_ext[^\S\n]+acai_jupyter\s*$/;

/** Whether a cell runs as a job. */
export function isRunCell(source: string): boolean {
  return RUN.test(source);
}

/** Whether it could: one that begins with another magic is no Python that a job could run, and without its load no line is known. */
export function canBeRunCell(source: string): boolean {
  return (
    isRunCell(source) || (!OTHER_MAGIC.test(source) && !ONLY_LOADS.test(source))
  );
}

/** The same cell as one that runs as a job, or that does not any more. `project` is empty where it goes without saying. */
export function toggledRun(source: string, project = ''): string {
  if (!isRunCell(source)) {
    return `${runLine(project)}\n${source.trimStart()}`;
  }
  const end = source.trimStart().indexOf('\n');
  return end < 0 ? '' : source.trimStart().slice(end + 1);
}

/** What makes a cell a job of a project. */
export function runLine(project: string): string {
  return project === '' ? RUN_LINE : `${RUN_LINE} --project ${project}`;
}

/** The project that the line of a cell names; empty where it names none. */
export function projectNamedIn(source: string): string {
  const [line = ''] = source.trimStart().split('\n', 1);
  return /\s--project[ =](\S+)/.exec(line)?.[1] ?? '';
}

/** Where the words of a second such line stand right below the first one; null where they do not. What follows them is kept. */
export function secondRun(
  source: string
): { start: number; end: number } | null {
  const [whole, , words = ''] = DOUBLED.exec(source) ?? [];
  return whole === undefined
    ? null
    : { start: whole.length - words.length, end: whole.length };
}

/** Whether a kernel that has run these cells knows the line. What stands below another magic is not the kernel's to run. */
export function knowsRunLine(sources: readonly string[]): boolean {
  return sources.some(
    source => !OTHER_MAGIC.test(source) && LOADED.test(source)
  );
}

/** What a cell became: one job, or a sweep of them. */
export type Ran =
  | { readonly kind: 'job'; readonly snapshot: IJobSnapshot }
  | { readonly kind: 'sweep'; readonly snapshot: ISweepSnapshot };

/** The job or sweep that the outputs of a cell name: the last one, if there are several. */
export function ranIn(
  outputs: readonly { readonly [type: string]: unknown }[]
): Ran | null {
  const last = [...outputs]
    .reverse()
    .find(data => JOB_TYPE in data || SWEEP_TYPE in data);
  if (last === undefined) {
    return null;
  }
  try {
    return JOB_TYPE in last
      ? { kind: 'job', snapshot: readSnapshot(last[JOB_TYPE]) }
      : { kind: 'sweep', snapshot: readSweep(last[SWEEP_TYPE]) };
  } catch {
    return null;
  }
}

/** A cell that runs as a job with an input; one that has another version of the same set gets this one in its place. */
export function withInput(source: string, spec: string, project = ''): string {
  const isRun = isRunCell(source);
  const cell = isRun ? source.trimStart() : toggledRun(source, project);
  const end = cell.indexOf('\n');
  const [line, rest] =
    end < 0 ? [cell, ''] : [cell.slice(0, end), cell.slice(end)];
  const word = quoted(spec);
  const [name] = spec.split(':');
  const isSet = /^[A-Za-z][\w.-]*:/.test(spec);
  const parts = line.split(/(\s--input[ =]\S+)/);
  const at = parts.findIndex(part => {
    const found = /^\s--input[ =](?:@|\/@)?([\w.-]+)(?::[\w.-]+)?$/.exec(part);
    return isSet && found?.[1] === name;
  });
  if (at >= 0) {
    parts[at] = ` --input ${word}`;
    return `${parts.join('')}${rest}`;
  }
  const has = parts.some(part => part.slice(1) === `--input ${word}`);
  return has ? cell : `${line.trimEnd()} --input ${word}${rest}`;
}
