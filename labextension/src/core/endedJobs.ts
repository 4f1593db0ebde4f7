import type { IFoundPage } from '../contract';
import type { IEnded } from './endNotices';

/** The query for those of some jobs that are over and somebody's. */
export function queryForEnded(numbers: readonly number[]): string {
  // eslint-disable-next-line acai/untranslated -- the query language
  return `number in (${numbers.join(', ')}) and has(ended_at)`;
}

export const ENDED_COLUMNS = ['state', 'creator'];

/** Those that are the user's, of a page with the columns above. */
export function endedOf(page: IFoundPage, user: string): IEnded[] {
  return page.rows
    .filter(({ values }) => values[1] === user)
    .map(({ thing, values }) => ({
      number: Number(thing),
      state: typeof values[0] === 'string' ? values[0] : ''
    }));
}
