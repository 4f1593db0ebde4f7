import { Notification } from '@jupyterlab/apputils';

import { projectClient } from '../connection/project';
import { ENDED_COLUMNS, endedOf, queryForEnded } from '../core/endedJobs';
import { budgetNotice } from '../core/budgetNotices';
import { EndNotices, type INotice } from '../core/endNotices';
import type { IAcaiConnection } from '../tokens';

/** Tell of jobs that end while nobody looks at this page, and of budgets that are nearly spent. */
export function followEnds(
  connection: IAcaiConnection,
  isWanted: () => boolean,
  open: (job: number) => void
): void {
  const client = projectClient(connection);
  const user = (): string => {
    const { state } = connection;
    return state.kind === 'connected' ? state.status.user.name : '';
  };
  const notices = new EndNotices({
    isLookedAt: () => !isWanted() || (!document.hidden && document.hasFocus()),
    user,
    choose: async (numbers, user) => {
      const page = await client.find({
        kind: 'job',
        query: queryForEnded(numbers),
        columns: ENDED_COLUMNS,
        limit: 1000
      });
      return endedOf(page, user);
    },
    ask: number => client.job(number),
    notify: notice => {
      show(notice, open);
    }
  });
  connection.eventReceived.connect((_, event) => {
    notices.hear(event);
    const told = budgetNotice(event, user());
    if (told !== null && isWanted()) {
      show(told, open);
    }
  });
}

/** JupyterLab keeps it until somebody has seen it. */
function show(notice: INotice, open: (job: number) => void): void {
  const [first, ...others] = notice.jobs;
  const actions =
    first === undefined || others.length > 0
      ? []
      : [
          {
            label: `Open job ${first}`,
            callback: () => {
              open(first);
            }
          }
        ];
  Notification.emit(
    notice.sentence,
    notice.tone === 'good' ? 'success' : 'error',
    {
      autoClose: false,
      actions
    }
  );
}
