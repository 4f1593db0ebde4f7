import { AcaiError } from '../core/errors';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import type { IGivenFile } from '../core/upload';

/**
 * The files in what was dropped, those in folders too, by paths below where they were dropped. Rejects when one of them cannot
 * be read, or when there are none.
 */
export async function droppedFiles(data: DataTransfer): Promise<IGivenFile[]> {
  // All of them are asked for at once: what was dropped is gone after the first wait.
  const items = [...data.items].filter(one => one.kind === 'file');
  const found = items.map(one => ({
    entry: one.webkitGetAsEntry(),
    file: one.getAsFile()
  }));
  const files: IGivenFile[] = [];
  for (const { entry, file } of found) {
    if (entry !== null) {
      await collect(entry, '', files);
    } else if (file !== null) {
      files.push({ path: file.name, file });
    }
  }
  if (files.length === 0) {
    throw refusal(trans.__('There are no files in what was dropped.'));
  }
  return files;
}

/** The files of a field; those of a folder know their place in it. */
export function pickedFiles(files: readonly File[]): IGivenFile[] {
  return files.map(file => ({
    path: file.webkitRelativePath || file.name,
    file
  }));
}

async function collect(
  entry: FileSystemEntry,
  above: string,
  files: IGivenFile[]
): Promise<void> {
  const path = `${above}${entry.name}`;
  if (isFile(entry)) {
    const file = await read<File>(path, (resolve, reject) => {
      entry.file(resolve, reject);
    });
    files.push({ path, file });
  } else if (isFolder(entry)) {
    const reader = entry.createReader();
    let page: FileSystemEntry[];
    do {
      page = await read<FileSystemEntry[]>(path, (resolve, reject) => {
        reader.readEntries(resolve, reject);
      });
      for (const one of page) {
        await collect(one, `${path}/`, files);
      }
    } while (page.length > 0);
  }
}

async function read<T>(
  path: string,
  ask: (resolve: (found: T) => void, reject: (error: Error) => void) => void
): Promise<T> {
  try {
    return await new Promise<T>(ask);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw refusal(
      trans.__(
        '%1 cannot be read, so nothing of what was dropped is sent: %2',
        oneLine(path),
        oneLine(reason)
      )
    );
  }
}

function refusal(sentence: string): AcaiError {
  return new AcaiError('not_readable', sentence, 0);
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}
