import type { IEvent } from '../contract';
import type { INotice } from './endNotices';

const SAID: Readonly<Record<string, string>> = {
  budget_near: 'Four fifths of the budget of',
  budget_spent: 'All of the budget of'
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
    sentence: `${said} ${event.subject} is spent`,
    jobs: []
  };
}
