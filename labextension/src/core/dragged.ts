import type { IChild } from '../contract';
import { encodePath, fileSpec } from './specText';

/** How pandas reads a file, by the end of its name. */
const READERS: { [end: string]: string } = {
  csv: 'read_csv',
  tsv: 'read_table',
  json: 'read_json',
  parquet: 'read_parquet',
  feather: 'read_feather',
  xlsx: 'read_excel'
};

/** The lines by which a cell reads a version of a file, like `/a.csv:2`; `project` is empty where it goes without saying. */
export function linesForFile(spec: string, project = ''): string {
  const url = written(`acai://${project}${spec}`);
  const end = /\.([^./]+):\d+$/.exec(spec)?.[1]?.toLowerCase() ?? '';
  const reader = READERS[end];
  return reader === undefined
    ? `import fsspec\nfsspec.open(${url}).open().read()`
    : `import pandas as pd\npd.${reader}(${url})`;
}

/** The lines by which a cell has what is below a folder: as it is now, or as it is in a file set. */
export function linesForFolder(path: string, project = '', set = ''): string {
  const place = path.replace(/\/$/, '');
  const folder = `${encodePath(place)}${set === '' ? '' : `/@${set}`}`;
  const url = written(`acai://${project}${folder}`);
  return `import fsspec\nfsspec.filesystem("acai").find(${url})`;
}

/** The same for a row of a tree, of the files or of what a set holds. */
export function linesForRow(
  path: string,
  child: IChild | null,
  project = '',
  set = ''
): string {
  const version = child?.version ?? null;
  return version === null
    ? linesForFolder(path, project, set)
    : linesForFile(fileSpec(path, version), project);
}

/** The lines by which a cell has a file set. */
export function linesForSet(ref: string, project = ''): string {
  const words = [
    written(ref),
    ...(project === '' ? [] : [`project=${written(project)}`])
  ];
  return `import acai_jupyter\nacai_jupyter.fileset(${words.join(', ')})`;
}

/** A text as Python writes it. */
function written(text: string): string {
  return JSON.stringify(text);
}
