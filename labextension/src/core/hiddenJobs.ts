import { narrowed } from './queryText';

/** So many values a query takes at most are 500, and so many characters 10,000. */
export const AT_ONCE = 400;

/** How many of some jobs a query is not true of. It asks no more once nobody wants to know. */
export async function countHidden(
  count: (query: string) => Promise<{ count: number }>,
  query: string,
  jobs: readonly string[],
  signal?: AbortSignal
): Promise<number> {
  let found = 0;
  for (let at = 0; at < jobs.length; at += AT_ONCE) {
    signal?.throwIfAborted();
    const some = jobs.slice(at, at + AT_ONCE).join(', ');
    // eslint-disable-next-line acai/untranslated -- the query language
    found += (await count(narrowed(query, `number in (${some})`))).count;
  }
  return jobs.length - found;
}
