import { describe, expect, it } from 'vitest';

import { droppedFiles } from '../src/data/dropping';

/** A file of the disk as a page sees it that was dropped; one that cannot be read has none. */
function entryOf(name: string, file: File | null): object {
  return {
    isFile: true,
    name,
    file: (resolve: (found: File) => void, reject: (why: Error) => void) => {
      if (file === null) {
        reject(new Error('Permission was denied.'));
      } else {
        resolve(file);
      }
    }
  };
}

function folderOf(name: string, ...entries: readonly object[]): object {
  const pages = [entries, []];
  return {
    isDirectory: true,
    name,
    createReader: () => ({
      readEntries: (resolve: (page: readonly object[]) => void) => {
        resolve(pages.shift() ?? []);
      }
    })
  };
}

function dropOf(...entries: readonly object[]): DataTransfer {
  const items = entries.map(entry => ({
    kind: 'file',
    webkitGetAsEntry: () => entry,
    getAsFile: () => null
  }));
  return { items } as unknown as DataTransfer;
}

describe('what is dropped', () => {
  const note = new File(['one'], 'note.txt');

  it('is files, those in folders below their names', async () => {
    const inner = folderOf('inner', entryOf('note.txt', note));
    const found = await droppedFiles(
      dropOf(folderOf('raw', inner), entryOf('note.txt', note))
    );
    expect(found.map(({ path }) => path)).toEqual([
      'raw/inner/note.txt',
      'note.txt'
    ]);
  });

  it('is nothing when one of them cannot be read, and it is said which', async () => {
    const drop = dropOf(
      folderOf('raw', entryOf('note.txt', note), entryOf('secret.txt', null))
    );
    await expect(droppedFiles(drop)).rejects.toThrow(
      'raw/secret.txt cannot be read, so nothing of what was dropped is sent: Permission was denied.'
    );
  });

  it('is said to be nothing where it has no files', async () => {
    await expect(droppedFiles(dropOf(folderOf('raw')))).rejects.toThrow(
      'There are no files in what was dropped.'
    );
  });
});
