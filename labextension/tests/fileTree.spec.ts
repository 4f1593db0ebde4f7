import { describe, expect, it } from 'vitest';

import type { IChild, IFolderPage } from '../src/contract';
import { FileTree } from '../src/core/fileTree';

const file = (name: string): IChild => ({
  name,
  kind: 'file',
  version: 1,
  size_bytes: 10
});
const folder = (name: string): IChild => ({ name, kind: 'folder' });

/** Folders by path, in pages of two; a list of what was asked for. */
function project(folders: { [path: string]: IChild[] }) {
  const asked: string[] = [];
  const read = (path: string, after: string): Promise<IFolderPage> => {
    asked.push(`${path} after '${after}'`);
    const all = folders[path];
    if (all === undefined) {
      return Promise.reject(new Error(`There is no folder '${path}'.`));
    }
    const from = all.findIndex(one => one.name === after) + 1;
    const children = all.slice(from, from + 2);
    const next = from + 2 < all.length ? children.at(-1)?.name : null;
    return Promise.resolve({ path, children, next });
  };
  return { asked, folders, tree: new FileTree(read) };
}

function shown(tree: FileTree): string[] {
  return tree.rows.map(row => (row.child === null ? '…' : row.path));
}

describe('the tree of files', () => {
  it('asks no more for open folders that were deleted, however deep', async () => {
    const { tree, asked, folders } = project({
      '/': [folder('a'), file('z')],
      '/a/': [folder('b')],
      '/a/b/': [file('x')]
    });
    await tree.reveal('/a/b/x');
    expect(shown(tree)).toEqual(['/a/', '/a/b/', '/a/b/x', '/z']);
    for (const path of ['/a/', '/a/b/']) {
      // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- they are few
      delete folders[path];
    }
    folders['/'] = [file('z')];
    asked.length = 0;
    await tree.refresh();
    expect(asked).toEqual(["/ after ''"]);
    expect(shown(tree)).toEqual(['/z']);
    expect(tree.error).toBeNull();
  });

  it('is asked for once, however often that is wanted meanwhile', async () => {
    const { tree, asked } = project({ '/': [file('a')] });
    await Promise.all([tree.ask(), tree.ask()]);
    await tree.ask();
    expect(asked).toEqual(["/ after ''"]);
    const { tree: gone, asked: still } = project({});
    await gone.ask();
    await gone.ask();
    expect(still).toHaveLength(2);
  });

  it('reads a folder when it is opened, and no other', async () => {
    const { tree, asked } = project({
      '/': [folder('a'), folder('b')],
      '/a/': [file('x')]
    });
    await tree.open('/');
    expect(shown(tree)).toEqual(['/a/', '/b/']);
    await tree.open('/a/');
    expect(shown(tree)).toEqual(['/a/', '/a/x', '/b/']);
    tree.close('/a/');
    await tree.open('/a/');
    expect(asked).toEqual(["/ after ''", "/a/ after ''"]);
  });

  it('leaves out what the system keeps for jobs', async () => {
    const { tree } = project({ '/': [folder('.code'), file('.hidden')] });
    await tree.open('/');
    expect(shown(tree)).toEqual(['/.hidden']);
  });

  it('reads what follows when that is seen', async () => {
    const { tree, asked } = project({
      '/': [file('a'), file('b'), file('c')]
    });
    await tree.open('/');
    expect(shown(tree)).toEqual(['/a', '/b', '…']);
    tree.want(0, 1);
    expect(asked).toHaveLength(1);
    const read = new Promise<void>(resolve => {
      tree.subscribe(() => {
        if (tree.rows.length === 3 && tree.rows[2]?.child !== null) {
          resolve();
        }
      });
    });
    tree.want(0, 2);
    await read;
    expect(shown(tree)).toEqual(['/a', '/b', '/c']);
  });

  it('reads anew all that is open, as far as it was read', async () => {
    const { tree, folders } = project({
      '/': [folder('a')],
      '/a/': [file('x')]
    });
    await tree.reveal('/a/x');
    folders['/a/'] = [file('x'), file('y')];
    await tree.refresh();
    expect(shown(tree)).toEqual(['/a/', '/a/x', '/a/y']);
  });

  it('says why a folder could not be read, and keeps what it shows', async () => {
    const { tree } = project({ '/': [folder('gone')] });
    await tree.open('/');
    await tree.open('/gone/');
    expect(tree.error?.message).toContain("There is no folder '/gone/'.");
    expect(shown(tree)).toContain('/gone/');
  });

  it('asks no more for what was refused, until somebody wants that', async () => {
    const { tree, asked, folders } = project({ '/': [folder('a')] });
    tree.subscribe(() => {
      tree.want(0, 10); // as the page does at each change
    });
    await tree.open('/');
    await tree.open('/a/');
    await new Promise(resolve => setTimeout(resolve, 5));
    expect(asked).toEqual(["/ after ''", "/a/ after ''"]);
    expect(tree.rows.map(row => row.isRefused)).toEqual([false, true]);
    folders['/a/'] = [file('x')];
    await tree.askAgain('/a/');
    expect(shown(tree)).toEqual(['/a/', '/a/x']);
    expect(tree.error).toBeNull();
  });
});
