import { Notification } from '@jupyterlab/apputils';

import { leftOut, withoutSecrets } from '../core/possibleSecrets';
import type { IGivenFile } from '../core/upload';
import type { UploadList } from '../core/uploadList';

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
