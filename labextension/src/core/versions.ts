import { trans } from './translation';

/** What to tell about two versions, and the command that helps. */
export interface IVersionNote {
  sentence: string;
  command: string;
}

const UPGRADE = 'pip install --upgrade acai-jupyter';

/** What is wrong between the version of the server and that of this page; null when nothing is. */
export function compareVersions(
  server: string,
  page: string
): IVersionNote | null {
  const order = versionOrder(server, page);
  if (order === 0) {
    return null;
  }
  if (order > 0) {
    return {
      sentence: trans.__(
        'The server has ACAI %1, this page has the older %2. Reload the page; if it stays, upgrade ACAI where JupyterLab is installed and restart JupyterLab.',
        server,
        page
      ),
      command: UPGRADE
    };
  }
  return {
    sentence: trans.__(
      'This page has ACAI %1, the server has the older %2. Restart the server; if it stays, upgrade ACAI where the server is installed.',
      page,
      server
    ),
    command: UPGRADE
  };
}

/** Below zero when `a` is older than `b`, zero when they are the same. */
export function versionOrder(a: string, b: string): number {
  const [left, right] = [rank(a), rank(b)];
  for (const [index, part] of left.entries()) {
    const difference = part - (right[index] ?? 0);
    if (difference !== 0) {
      return difference;
    }
  }
  return 0;
}

const STAGES: { [name: string]: number } = {
  a: 1,
  alpha: 1,
  b: 2,
  beta: 2,
  rc: 3
};
const FINAL = 4;

/** Numbers to compare in order. npm writes `1.0.0-alpha.2` where Python writes `1.0.0a2`; both are the same version. */
function rank(version: string): number[] {
  const match =
    /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:[-.]?(alpha|beta|rc|a|b)[-.]?(\d+)?)?/.exec(
      version
    );
  if (match === null) {
    return [0, 0, 0, 0, 0];
  }
  const [, major, minor, patch, stage, count] = match;
  return [
    Number(major),
    Number(minor ?? 0),
    Number(patch ?? 0),
    stage === undefined ? FINAL : (STAGES[stage] ?? FINAL),
    Number(count ?? 0)
  ];
}
