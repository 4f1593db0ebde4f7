import { Notification } from '@jupyterlab/apputils';

import { asAcaiError } from '../core/connectionStore';
import { fileSpec, nameOf } from '../core/specText';
import { download } from '../provenance/files';
import type { DataServices } from './services';

/** So much is asked for at once. */
const PIECE_BYTES = 16_000_000;

/** Have the browser keep a version as a file. What fails is told in a notification. */
export async function downloadVersion(
  services: DataServices,
  path: string,
  version: number
): Promise<void> {
  try {
    const spec = fileSpec(path, version);
    const page = await services.client.fetch(spec);
    const [file] = page.files;
    const url = page.objects[file?.[4] ?? 0];
    if (file === undefined || url === undefined) {
      return;
    }
    const [, , size, , , offset] = file;
    const pieces: Blob[] = [];
    for (let at = 0; at < size; at += PIECE_BYTES) {
      const end = Math.min(size, at + PIECE_BYTES);
      // A blob may be kept on the disk, where an array is in memory.
      const piece = await services.objects.read(
        url,
        offset + at,
        offset + end - 1
      );
      pieces.push(new Blob([piece]));
    }
    download(nameOf(path), new Blob(pieces));
  } catch (error) {
    Notification.error(asAcaiError(error).message);
  }
}
