import { Notification, showErrorMessage } from '@jupyterlab/apputils';

import { Archive, fileMeant, type IArchived } from '../core/archive';
import { projectOf } from '../connection/project';
import { asAcaiError } from '../core/connectionStore';
import { FetchedFiles } from '../core/fetched';
import { formatSize } from '../core/format';
import { decodePath, fileSpec, nameOf } from '../core/specText';
import { trans } from '../core/translation';
import { download } from '../provenance/files';
import type { DataServices } from './services';

/** What is done before that is told by the browser alone; after it, how far it is, so often. */
const TELL_MS = 500;

/** Have the browser keep a version as a file. What fails is said in a dialog. */
export async function downloadVersion(
  services: DataServices,
  path: string,
  version: number
): Promise<void> {
  await downloadFile(services, fileSpec(path, version), nameOf(path));
}

async function downloadFile(
  services: DataServices,
  spec: string,
  name: string
): Promise<void> {
  await saved(name, async signal => {
    const { client, objects } = services;
    const page = await client.fetch(spec);
    const fetched = new FetchedFiles(page, { objects, damage: client, signal });
    const pieces: Blob[] = [];
    for (const file of page.files) {
      for await (const piece of fetched.read(file)) {
        // A blob may be kept on the disk, where an array is in memory.
        pieces.push(new Blob([piece]));
      }
    }
    return new Blob(pieces);
  });
}

/** Have the browser keep all that specs name as one archive. */
export async function downloadAll(
  services: DataServices,
  specs: readonly string[],
  name: string
): Promise<void> {
  await saved(`${name}.zip`, async (signal, onStep) => {
    const { client, objects } = services;
    return new Archive(client, objects, specs, signal, onStep).make();
  });
}

/** One file by itself, one folder under its name, several things as the project's. */
export async function downloadChosen(
  services: DataServices,
  specs: readonly string[]
): Promise<void> {
  const [only = ''] = specs;
  const file = fileMeant(specs);
  if (file !== null) {
    await downloadFile(services, file.spec, file.name);
  } else {
    const project = projectOf(services.connection);
    const name = specs.length === 1 ? nameOf(decodePath(only)) : project;
    await downloadAll(services, specs, name);
  }
}

/** Fetches and saves; while that goes on a notification says how far it is, and stops it. */
async function saved(
  name: string,
  fetch: (
    signal: AbortSignal,
    onStep: (done: IArchived) => void
  ) => Promise<Blob>
): Promise<void> {
  const stopping = new AbortController();
  const doing = trans.__('Downloading %1', name);
  const stop = {
    label: trans.__('Stop'),
    callback: () => {
      stopping.abort();
    }
  };
  let id = '';
  let done: IArchived = { files: 0, bytes: 0 };
  const telling = setInterval(() => {
    if (id === '') {
      const options = { autoClose: false as const, actions: [stop] };
      id = Notification.emit(doing, 'in-progress', options);
    } else if (done.files > 0) {
      Notification.update({ id, message: `${doing} · ${soFar(done)}` });
    }
  }, TELL_MS);
  try {
    const content = await fetch(stopping.signal, step => {
      done = step;
    });
    download(name, content);
  } catch (error) {
    if (!stopping.signal.aborted) {
      // A notification is cut after 140 characters, and without a time to close it is only counted in the status bar.
      const title = trans.__('%1 could not be downloaded', name);
      void showErrorMessage(title, asAcaiError(error).message);
    }
  } finally {
    clearInterval(telling);
    Notification.dismiss(id);
  }
}

function soFar({ files, bytes }: IArchived): string {
  return trans._n(
    '%2 file, %3',
    '%2 files, %3',
    files,
    files.toLocaleString('en-US'),
    formatSize(bytes)
  );
}
