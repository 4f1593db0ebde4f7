import type { IFindThings, IFoundPage } from '../contract';

/** A row of a list: where it was, and which job stood there, as far as that was read. */
export interface IPlace {
  index: number;
  thing?: string;
}

/** Which jobs, and in which order. */
type Asked = Pick<IFindThings, 'query' | 'order'>;
type Find = (request: IFindThings) => Promise<IFoundPage>;

/** So many jobs are read at once of which only the number is wanted. */
const AT_ONCE = 1000;
/** By so many rows a job may have moved since somebody saw it. */
const SLACK = 100;

/** All jobs that are listed; none where they are not wanted any more. */
export async function allNumbers(
  find: Find,
  asked: Asked,
  isWanted: () => boolean
): Promise<string[]> {
  const found: string[] = [];
  for await (const things of numbersFrom(find, asked, 0)) {
    if (!isWanted()) {
      return [];
    }
    found.push(...things);
  }
  return found;
}

/** The jobs from one place to another, where they stand now. */
export async function numbersBetween(
  find: Find,
  asked: Asked,
  first: IPlace,
  last: IPlace
): Promise<string[]> {
  const begin = Math.max(0, first.index - SLACK);
  const found: string[] = [];
  for await (const things of numbersFrom(find, asked, begin)) {
    found.push(...things);
    const isMet = last.thing !== undefined && found.includes(last.thing);
    if (isMet || found.length > last.index - begin + SLACK) {
      break;
    }
  }
  const at = ({ index, thing }: IPlace) => {
    const met = thing === undefined ? -1 : found.indexOf(thing);
    return met < 0 ? index - begin : met;
  };
  const [from, to] = [at(first), at(last)].sort((a, b) => a - b);
  return found.slice(from, (to ?? 0) + 1);
}

/** Page after page; what comes meanwhile moves none of them. */
async function* numbersFrom(
  find: Find,
  { query, order }: Asked,
  skip: number
): AsyncGenerator<string[]> {
  let place: Pick<IFindThings, 'skip' | 'after'> = { skip };
  for (;;) {
    const page = await find({
      kind: 'job',
      query,
      order,
      columns: ['number'],
      limit: AT_ONCE,
      utc_offset_seconds: -60 * new Date().getTimezoneOffset(),
      ...place
    });
    yield page.rows.map(row => row.thing);
    if (typeof page.next !== 'string') {
      return;
    }
    place = { after: page.next };
  }
}
