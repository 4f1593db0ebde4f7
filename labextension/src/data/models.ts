import type { Contents } from '@jupyterlab/services';

import { AcaiError } from '../core/errors';
import { partsOf, type PreviewReader, readPreviewPath } from '../core/previews';
import { nameOf } from '../core/specText';
import { trans } from '../core/translation';
import { notebookOf } from './notebookBody';

/** Shown as the CSV that it could have been. */
const PARQUET = /\.(?:parquet|pq)$/i;
const NOT_TEXT = '\0';
/** The kind of a file, by its name. */
export type MimeOf = (path: string) => string;

/** A page of HTML as its viewer gets it. */
export type PageOf = (html: string) => string;

/** What a viewer gets, and of how many parts it is one. */
export interface IShown {
  model: Contents.IModel;
  parts: number;
  /** All of it, where it was read as a whole. */
  bytes?: Uint8Array;
}

/** The model that JupyterLab's viewers take, with no more in it than they show. */
export async function modelOf(
  reader: PreviewReader,
  path: string,
  options: Contents.IFetchOptions,
  mimeOf: MimeOf,
  pageOf: PageOf
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
    parts = 1,
    bytes?: Uint8Array
  ): IShown => ({ model: { ...base, format, content }, parts, bytes });
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
  const isPage = /\.html?$/i.test(place.path);
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
  return isWhole
    ? shown('text', isPage ? pageOf(content) : content, 1, bytes)
    : shown('text', content, partsOf(sizeBytes));
}

const WHOLE_TEXTS =
  /\.(?:json|geojson|vega|vegalite|vg|vl|svg|html?|ya?ml|toml|md)$/i;
/** It never changes, so it never changed. */
const BEGIN = '1970-01-01T00:00:00Z';

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

const CHUNK = 0x8000;

export function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += CHUNK) {
    text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  }
  return btoa(text);
}
