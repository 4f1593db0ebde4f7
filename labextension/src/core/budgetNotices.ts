import type { IEvent } from '../contract';
import type { INotice } from './endNotices';
import { trans } from './translation';

const SAID: Readonly<Record<string, (subject: string) => string>> = {
  budget_near: subject =>
    trans.__('Four fifths of the budget of %1 is spent', subject),
  budget_spent: subject => trans.__('All of the budget of %1 is spent', subject)
};

/** What to say of a budget that is nearly spent, or spent; of other people's nothing. */
export function budgetNotice(event: IEvent, user: string): INotice | null {
  const said = SAID[event.kind];
  const [whose] = event.subject.split(' in ');
  if (said === undefined || (whose !== 'the project' && whose !== user)) {
    return null;
  }
  return {
    tone: 'bad',
    sentence: said(event.subject),
    jobs: []
  };
}
