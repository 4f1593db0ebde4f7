import type { Contents } from '@jupyterlab/services';

import { AcaiError } from '../core/errors';
import {
  type IPreview,
  PART_BYTES,
  type PreviewReader,
  readPreviewPath
} from '../core/previews';
import { nameOf } from '../core/specText';
import { trans } from '../core/translation';

/** Shown as the CSV that it could have been. */
const PARQUET = /\.(?:parquet|pq)$/i;
const NOT_TEXT = '\0';

/** The model that JupyterLab's viewers take, with no more in it than they show. */
export async function modelOf(
  reader: PreviewReader,
  path: string,
  options: Contents.IFetchOptions
): Promise<Contents.IModel> {
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
    writable: false,
    created: BEGIN,
    last_modified: BEGIN,
    mimetype: 'application/octet-stream'
  };
  if (options.content === false) {
    const type = isNotebook ? 'notebook' : 'file';
    return { ...base, type, content: null, format: null };
  }
  if (PARQUET.test(path) && options.format !== 'base64') {
    const { parquetPart } = await import('../core/parquet');
    const file = await reader.locate(place);
    const { text, parts } = await parquetPart(file, nameOf(path), place.part);
    // So many texts of a part's size would have as many parts.
    const size = parts * PART_BYTES;
    return { ...base, type: 'file', content: text, format: 'text', size };
  }
  if (isNotebook) {
    const { bytes } = await reader.whole(place);
    const content: unknown = JSON.parse(textOf(bytes));
    return { ...base, type: 'notebook', content, format: 'json' };
  }
  const isText = options.format === 'text' || options.format === undefined;
  if (!isText) {
    const { bytes } = await reader.whole(place);
    return {
      ...base,
      type: 'file',
      content: base64Of(bytes),
      format: 'base64'
    };
  }
  const found = await read(reader, place.path, () =>
    reader.part(place, /\.(?:csv|tsv)$/i.test(place.path))
  );
  const content = textOf(found.bytes);
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
  return {
    ...base,
    type: 'file',
    mimetype: 'text/plain',
    content,
    format: 'text',
    size: found.sizeBytes
  };

  /** A viewer of JSON and the like can do nothing with a part. */
  function read(
    from: PreviewReader,
    name: string,
    part: () => Promise<IPreview>
  ): Promise<IPreview> {
    return WHOLE_TEXTS.test(name) && place !== null
      ? from.whole(place)
      : part();
  }
}

const WHOLE_TEXTS = /\.(?:json|geojson|vega|vg|vl|svg|html?|ya?ml|toml|md)$/i;
/** It never changes, so it never changed. */
const BEGIN = '1970-01-01T00:00:00Z';

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

const CHUNK = 0x8000;

function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += CHUNK) {
    text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  }
  return btoa(text);
}
