import type { Contents } from '@jupyterlab/services';

import { asAcaiError } from '../core/connectionStore';
import { AcaiError } from '../core/errors';
import { partsOf, type PreviewReader, readPreviewPath } from '../core/previews';
import { nameOf } from '../core/specText';
import { trans } from '../core/translation';

/** Shown as the CSV that it could have been. */
const PARQUET = /\.(?:parquet|pq)$/i;
const NOT_TEXT = '\0';
/** What is shown where another document names it, and the pages whose viewer asks for their own address. */
const IN_PLACE = /^(?:image|audio|video)\/|^text\/html$/;
/** What nobody has put; it is drawn like any other picture that is not there. */
export const NOTHING = 'data:,';

/** The kind of a file, by its name. */
export type MimeOf = (path: string) => string;

/** What a viewer gets, and of how many parts it is one. */
export interface IShown {
  model: Contents.IModel;
  parts: number;
}

/** The model that JupyterLab's viewers take, with no more in it than they show. */
export async function modelOf(
  reader: PreviewReader,
  path: string,
  options: Contents.IFetchOptions,
  mimeOf: MimeOf
): Promise<IShown> {
  const place = readPreviewPath(path);
  if (place === null) {
    throw new AcaiError(
      'file_not_found',
      trans.__("'%1' is not a version of a file.", path),
      404
    );
  }
  const isNotebook =
    options.type === 'notebook' ||
    (options.type === undefined && path.endsWith('.ipynb'));
  const base = {
    name: nameOf(path),
    path: path.replace(/^\//, ''),
    type: isNotebook ? 'notebook' : 'file',
    writable: false,
    created: BEGIN,
    last_modified: BEGIN,
    mimetype: mimeOf(path)
  };
  const shown = (
    format: Contents.FileFormat,
    content: unknown,
    parts = 1
  ): IShown => ({ model: { ...base, format, content }, parts });
  if (options.content === false) {
    return shown(null, null);
  }
  if (PARQUET.test(path) && options.format !== 'base64') {
    const { parquetPart } = await import('../core/parquet');
    const file = await reader.locate(place);
    const { text, parts } = await parquetPart(file, nameOf(path), place.part);
    return shown('text', text, parts);
  }
  if (isNotebook) {
    const { bytes } = await reader.whole(place);
    return shown('json', notebookOf(textOf(bytes), nameOf(path)));
  }
  const isText = options.format === 'text' || options.format === undefined;
  if (!isText) {
    const { bytes } = await reader.whole(place);
    return shown('base64', base64Of(bytes));
  }
  // A viewer of JSON and the like can do nothing with a part.
  const isWhole = WHOLE_TEXTS.test(place.path);
  const isTable = /\.(?:csv|tsv)$/i.test(place.path);
  const { bytes, sizeBytes } = isWhole
    ? await reader.whole(place)
    : await reader.part(place, isTable);
  const content = textOf(bytes);
  if (content.slice(0, 10_000).includes(NOT_TEXT)) {
    throw new AcaiError(
      'not_a_text',
      trans.__(
        '%1 is not a text, and nothing here shows files of its kind. Download it, or open it in a notebook.',
        nameOf(path)
      ),
      415
    );
  }
  return shown('text', content, isWhole ? 1 : partsOf(sizeBytes));
}

const WHOLE_TEXTS = /\.(?:json|geojson|vega|vg|vl|svg|html?|ya?ml|toml|md)$/i;
/** It never changes, so it never changed. */
const BEGIN = '1970-01-01T00:00:00Z';

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** A notebook of which no cell is trusted, whatever it says: a server that reads one looks for its own signature of it. */
function notebookOf(text: string, name: string): unknown {
  const body = bodyOf(text);
  const cells = cellsOf(body);
  if (cells === null) {
    throw new AcaiError(
      'not_a_notebook',
      trans.__(
        '%1 is not a notebook, whatever its name says. Download it, or read it in a notebook.',
        name
      ),
      415
    );
  }
  for (const cell of cells) {
    const metadata = isObject(cell.metadata) ? cell.metadata : {};
    cell.metadata = { ...metadata, trusted: false };
  }
  return body;
}

function bodyOf(text: string): unknown {
  try {
    // What copies an object would take this for what it inherits.
    return JSON.parse(text, (key, value: unknown) =>
      key === '__proto__' ? undefined : value
    );
  } catch {
    return null;
  }
}

/** All cells, which older notebooks have in sheets; null where these are none. */
function cellsOf(body: unknown): IObject[] | null {
  if (!isObject(body)) {
    return null;
  }
  const { cells = [], worksheets = [] } = body;
  if (!isListOfObjects(worksheets)) {
    return null;
  }
  const lists = [cells, ...worksheets.map(sheet => sheet.cells ?? [])];
  return lists.every(isListOfObjects) ? lists.flat() : null;
}

interface IObject {
  [name: string]: unknown;
}

function isObject(value: unknown): value is IObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isListOfObjects(value: unknown): value is IObject[] {
  return Array.isArray(value) && value.every(isObject);
}

const CHUNK = 0x8000;

function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += CHUNK) {
    text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  }
  return btoa(text);
}

/**
 * A file where a page can show it, as a picture that a notebook names; of what stands beside a document and has no version of
 * its number, the newest. Such an address is of no origin, so nothing in it acts as this page, and nobody has to give it back.
 */
export async function urlOf(
  reader: PreviewReader,
  path: string,
  mimeOf: MimeOf
): Promise<string> {
  const place = readPreviewPath(path);
  const mime = mimeOf(path);
  if (place === null || !IN_PLACE.test(mime)) {
    throw new AcaiError(
      'not_in_place',
      trans.__(
        'A version of a file cannot be downloaded from here; the file’s tab in ACAI does that.'
      ),
      415
    );
  }
  try {
    const { bytes } = await reader.wholeBeside(place);
    return `data:${mime};base64,${base64Of(bytes)}`;
  } catch (error) {
    if (asAcaiError(error).status === 404) {
      return NOTHING;
    }
    throw error;
  }
}
