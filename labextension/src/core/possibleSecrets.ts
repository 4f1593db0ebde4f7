import { SECRET_NAMES } from './secretNames';
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
