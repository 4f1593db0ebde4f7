import { encodePath } from './specText';

/** How pandas reads a file, by the end of its name. */
const READERS: { [end: string]: string } = {
  csv: 'read_csv',
  tsv: 'read_table',
  json: 'read_json',
  parquet: 'read_parquet',
  feather: 'read_feather',
  xlsx: 'read_excel'
};

/** The lines by which a cell reads a version of a file; `project` is empty where it goes without saying. */
export function linesForFile(
  path: string,
  version: number,
  project = ''
): string {
  const url = written(`acai://${project}${encodePath(path)}:${version}`);
  const end = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  const reader = READERS[end];
  return reader === undefined
    ? `import fsspec\nfsspec.open(${url}).open().read()`
    : `import pandas as pd\npd.${reader}(${url})`;
}

/** The lines by which a cell has what is below a folder, as it is now. */
export function linesForFolder(path: string, project = ''): string {
  const folder = encodePath(path.replace(/\/$/, ''));
  const url = written(`acai://${project}${folder}`);
  return `import fsspec\nfsspec.filesystem("acai").find(${url})`;
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
