import { Notification } from '@jupyterlab/apputils';

import { withoutSecrets } from '../core/possibleSecrets';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import type { IGivenFile } from '../core/upload';
import type { UploadList } from '../core/uploadList';

const NAMED = 3;

/** Upload files to a folder of the project. What may hold a secret in a folder stays behind, and is named. */
export function sendFiles(
  uploads: UploadList,
  given: readonly IGivenFile[],
  folder: string
): void {
  const { files, secrets } = withoutSecrets(given);
  if (files.length > 0) {
    uploads.start(files, folder);
  }
  if (secrets.length > 0) {
    Notification.warning(leftOut(secrets), { autoClose: false });
  }
}

/** Say which files stayed behind, and how to send one. */
export function leftOut(secrets: readonly string[]): string {
  const names = secrets.slice(0, NAMED).map(oneLine).join(', ');
  const more = secrets.length - NAMED;
  const named =
    more > 0
      ? trans._n('%2 and %1 more', '%2 and %1 more', more, names)
      : names;
  return trans.__(
    'Not uploaded, as it may hold a secret: %1. Upload the file itself, not its folder, to send it.',
    named
  );
}
