import { AcaiError } from '../core/errors';
import { trans } from '../core/translation';
import { isQuiet, whyNotDrawn } from './isolation';

/**
 * A notebook of which no cell is trusted, whatever it says: a server that reads one looks for its own signature of it. Outputs lose
 * the forms whose viewers could load from other hosts.
 */
export function notebookOf(text: string, name: string): unknown {
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
    for (const output of isListOfObjects(cell.outputs) ? cell.outputs : []) {
      if (isObject(output.data)) {
        output.data = quietForms(output.data);
      }
    }
  }
  return body;
}

function quietForms(data: IObject): IObject {
  const kept = Object.entries(data).filter(([mime]) => isQuiet(mime));
  const [dropped] = Object.keys(data).filter(mime => !isQuiet(mime));
  if (kept.length === 0 && dropped !== undefined) {
    return { 'text/plain': whyNotDrawn(dropped) };
  }
  return Object.fromEntries(kept);
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
