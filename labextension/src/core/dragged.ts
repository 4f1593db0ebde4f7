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

/** The lines by which a cell reads a version of a file. */
export function linesForFile(path: string, version: number): string {
  const url = written(`acai://${encodePath(path)}:${version}`);
  const end = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  const reader = READERS[end];
  return reader === undefined
    ? `import fsspec\nfsspec.open(${url}).open().read()`
    : `import pandas as pd\npd.${reader}(${url})`;
}

/** The lines by which a cell has what is below a folder, as it is now. */
export function linesForFolder(path: string): string {
  const url = written(`acai://${encodePath(path.replace(/\/$/, ''))}`);
  return `import fsspec\nfsspec.filesystem("acai").find(${url})`;
}

/** The lines by which a cell has a file set. */
export function linesForSet(ref: string): string {
  return `import acai_jupyter\nacai_jupyter.fileset(${written(ref)})`;
}

/** A text as Python writes it. */
function written(text: string): string {
  return JSON.stringify(text);
}
