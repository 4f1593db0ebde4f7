import type { IEntryPage, IRemovedFiles } from '../contract';
import { asAcaiError } from './connectionStore';
import { encodePath } from './specText';

/** What it takes to delete files and bring them back. */
export interface IRemovalSource {
  files(spec: string, after: string): Promise<IEntryPage>;
  removeMany(specs: readonly string[], undo: boolean): Promise<IRemovedFiles>;
}

/** What became of it: which files are done, and why others are as they were. */
export interface IRemoval {
  done: readonly string[];
  kept: readonly string[];
}

/** So many files go in one request, and what was done is told after each. */
const AT_ONCE = 200;
/** So many reasons are told. */
const MOST_REASONS = 3;

/** The files that are named, and all that are below the folders that are; of folders the paths end in `/`. */
export async function filesBelow(
  source: IRemovalSource,
  paths: readonly string[]
): Promise<string[]> {
  const found = new Set(paths.filter(path => !path.endsWith('/')));
  for (const folder of paths.filter(path => path.endsWith('/'))) {
    let after: string | null = '';
    while (after !== null) {
      const page: IEntryPage = await source.files(encodePath(folder), after);
      for (const { path } of page.entries) {
        found.add(path);
      }
      after = page.next ?? null;
    }
  }
  return [...found];
}

/**
 * Deletes all versions of files, many at a time, or brings them back. What the server refuses stays, as what a file set holds;
 * when nothing answers any more it ends.
 */
export async function removeAll(
  source: IRemovalSource,
  paths: readonly string[],
  undo: boolean,
  onStep: (done: number) => void
): Promise<IRemoval> {
  const done: string[] = [];
  const kept = new Set<string>();
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    const some = paths.slice(at, at + AT_ONCE);
    try {
      const answer = await source.removeMany(some.map(encodePath), undo);
      done.push(...answer.removed.map(({ path }) => path));
      answer.kept.forEach(({ reason }) => kept.add(reason));
      onStep(done.length);
    } catch (reason) {
      kept.add(asAcaiError(reason).message);
      break;
    }
  }
  return { done, kept: [...kept].slice(0, MOST_REASONS) };
}
