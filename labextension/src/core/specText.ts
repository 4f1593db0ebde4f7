/** Paths and specs as people write them: see the page about specs. */

/** `/a b@c.csv` as it stands in a spec. */
export function encodePath(path: string): string {
  return path.replace(/[%@:]/g, sign =>
    sign === '%' ? '%25' : sign === '@' ? '%40' : '%3A'
  );
}

/** `/img/1.png:3`, which is how a file version is called. */
export function fileSpec(path: string, version: number): string {
  return `${encodePath(path)}:${version}`;
}

/** A file version's path and number; null where a spec is something else. */
export function readFileSpec(
  spec: string
): { path: string; version: number } | null {
  const found = /^(\/[^@:]*):([1-9]\d{0,8})$/.exec(spec);
  return found === null
    ? null
    : { path: decodePath(found[1] ?? ''), version: Number(found[2]) };
}

/** A file set version's name and number; null where a text is something else. */
export function readSetRef(
  ref: string
): { name: string; version: number } | null {
  const found = /^([A-Za-z][\w.-]*):([1-9]\d{0,8})$/.exec(ref);
  return found === null
    ? null
    : { name: found[1] ?? '', version: Number(found[2]) };
}

/** The last part of a path, of a folder's too. */
export function nameOf(path: string): string {
  return path.replace(/\/$/, '').split('/').pop() ?? '';
}

/** `/img/` of `/img/1.png` and of `/img/raw/`. */
export function folderOf(path: string): string {
  return path.slice(0, path.replace(/\/$/, '').lastIndexOf('/') + 1);
}

export function decodePath(path: string): string {
  return path.replace(/%(25|40|3A)/gi, (_, code: string) =>
    String.fromCharCode(parseInt(code, 16))
  );
}

/** How a file is called from a folder: `../lib/train.py`. */
export function relativePath(folder: string, path: string): string {
  const from = folder.split('/').filter(part => part !== '');
  const to = path.split('/').filter(part => part !== '');
  let common = 0;
  while (common < from.length && from[common] === to[common]) {
    common += 1;
  }
  const up = from.slice(common).map(() => '..');
  return [...up, ...to.slice(common)].join('/');
}
