import type {
  ICounted,
  ICountThings,
  IFindThings,
  IFoundPage
} from '../contract';

/** What a field offers while somebody types: a few names of the project, by what the line holds in front of the cursor. */
export interface IOffering {
  find(project: string, body: IFindThings): Promise<IFoundPage>;
  count(project: string, body: ICountThings): Promise<ICounted>;
}

export const MOST_OFFERED = 8;
/** The beginning of a name, or of `@name`; a path, a version and an alias are for who types them. */
const NAME = /^(@?)([A-Za-z][\w.-]*)?$/;

/** Where a word stands in a field that has a value on each line. */
export interface IPart {
  text: string;
  start: number;
  end: number;
}

/** The line of a field around the cursor. */
export function partAt(text: string, cursor: number): IPart {
  const start = text.lastIndexOf('\n', cursor - 1) + 1;
  const next = text.indexOf('\n', cursor);
  const end = next < 0 ? text.length : next;
  return { text: text.slice(start, end), start, end };
}

/** The same field with another word there. */
export function withPart(text: string, part: IPart, word: string): string {
  return `${text.slice(0, part.start)}${word}${text.slice(part.end)}`;
}

/** Whether a field offers anything. */
export function isOffered(option: string): boolean {
  return option === 'input' || option === 'profile';
}

/** What an option could be that begins so; nothing where it is that already. */
export async function offersFor(
  option: string,
  word: string,
  project: string,
  from: IOffering
): Promise<string[]> {
  const found = NAME.exec(word.trim());
  if (found === null) {
    return [];
  }
  const [, sign = '', begun = ''] = found;
  const names =
    option === 'input'
      ? await setsLike(begun, project, from)
      : sign === ''
        ? await profilesLike(begun, project, from)
        : [];
  const only = names.length === 1 && names[0] === begun;
  return only ? [] : names.slice(0, MOST_OFFERED).map(one => sign + one);
}

async function setsLike(
  begun: string,
  project: string,
  from: IOffering
): Promise<string[]> {
  const { rows } = await from.find(project, {
    kind: 'file_set',
    query: `latest = true${likeness('name', begun)}`,
    columns: ['name'],
    order: [{ key: 'name' }],
    limit: MOST_OFFERED
  });
  return textsAmong(rows.map(one => one.values[0]));
}

/** Those of which a job has finished, the most used first: a form cannot predict by others. */
async function profilesLike(
  begun: string,
  project: string,
  from: IOffering
): Promise<string[]> {
  const { facets = [] } = await from.count(project, {
    kind: 'job',
    query: `state = 'finished'${likeness('template', begun)}`,
    keys: ['template'],
    limit: 5 * MOST_OFFERED
  });
  const templates = textsAmong(
    facets.flatMap(({ values }) => values.map(({ value }) => value))
  );
  return templates.filter(one => NAME.test(one)); // scripts have templates that nobody gave a name
}

function textsAmong(values: readonly unknown[]): string[] {
  return values.filter(one => typeof one === 'string');
}

/** `begun` has letters, digits, `_`, `.` and `-` in it. */
function likeness(key: string, begun: string): string {
  // eslint-disable-next-line acai/untranslated -- the query language
  return begun === '' ? '' : ` and ${key} ~ '^${begun.replace(/\./g, '[.]')}'`;
}
