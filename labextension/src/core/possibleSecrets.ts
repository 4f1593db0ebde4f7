import { SECRET_NAMES } from './secretNames';
import { oneLine } from './text';
import { trans } from './translation';
import type { IGivenFile } from './upload';

/** The strongest first. */
const RULES = SECRET_NAMES.map(one => ({
  ...one,
  expression: new RegExp(one.pattern, 's')
})).reverse();

/** The files of an upload, and the paths of those that stay behind because they may hold secrets. */
export interface ISorted {
  files: IGivenFile[];
  secrets: string[];
}

/** Keep back what may hold a secret, as `put` does: files of folders. A file that was given by itself is sent. */
export function withoutSecrets(given: readonly IGivenFile[]): ISorted {
  const files: IGivenFile[] = [];
  const secrets: string[] = [];
  for (const one of given) {
    if (isPossibleSecret(one.path)) {
      secrets.push(one.path);
    } else {
      files.push(one);
    }
  }
  return { files, secrets };
}

/** Whether a file below a folder, or one of the folders between, has the name of a secret. */
function isPossibleSecret(path: string): boolean {
  const parts = path.split('/').slice(1);
  return parts.some((name, at) => {
    const isFolder = at < parts.length - 1;
    const below = parts.slice(0, at + 1).join('/');
    const deciding = RULES.find(
      rule =>
        (isFolder || !rule.foldersOnly) &&
        rule.expression.test(rule.byName ? name : below)
    );
    return deciding !== undefined && !deciding.isHarmless;
  });
}

const NAMED = 3;
/** JupyterLab cuts off what a notification says beyond this. */
const MOST_CHARACTERS = 140;

/** Say in a notification which files stayed behind, and how to send one: as many names as leave room for that. */
export function leftOut(secrets: readonly string[]): string {
  const names = secrets.slice(0, NAMED).map(oneLine);
  const saying = (named: readonly string[]) =>
    sentenceOf(named, secrets.length - named.length);
  while (names.length > 1 && saying(names).length > MOST_CHARACTERS) {
    names.pop();
  }
  const excess = saying(names).length - MOST_CHARACTERS;
  return saying(
    excess > 0 ? names.map(name => `…${name.slice(excess + 1)}`) : names
  );
}

function sentenceOf(names: readonly string[], more: number): string {
  const named = names.join(', ');
  return trans.__(
    'Not uploaded, as it may hold a secret: %1. To send one, upload the file itself.',
    more > 0 ? trans._n('%2 and %1 more', '%2 and %1 more', more, named) : named
  );
}
