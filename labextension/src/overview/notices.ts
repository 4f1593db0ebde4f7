import { Notification } from '@jupyterlab/apputils';

import { projectOf } from '../connection/project';
import { ENDED_COLUMNS, endedOf, queryForEnded } from '../core/endedJobs';
import { budgetNotice } from '../core/budgetNotices';
import { EndNotices, type INotice } from '../core/endNotices';
import { ProjectClient } from '../core/projectClient';
import { trans } from '../core/translation';
import type { IAcaiConnection } from '../tokens';

/** Tell of jobs that end while nobody looks at this page, and of budgets that are nearly spent. */
export function followEnds(
  connection: IAcaiConnection,
  isWanted: () => boolean,
  /** What opens a job; null where nothing can. */
  opener: () => ((job: number, project: string) => void) | null
): void {
  let project = '';
  let notices: EndNotices | null = null;
  const tell = (notice: INotice, whose: string) => {
    const open = opener();
    show(
      notice,
      open === null
        ? null
        : job => {
            open(job, whose);
          }
    );
  };
  const user = (): string => {
    const { state } = connection;
    return state.kind === 'connected' ? state.status.user.name : '';
  };
  const noticesIn = (whose: string) => {
    const client = new ProjectClient(connection.client, () => whose);
    return new EndNotices({
      isLookedAt: () =>
        !isWanted() || (!document.hidden && document.hasFocus()),
      user,
      choose: async (numbers, name) => {
        const page = await client.find({
          kind: 'job',
          query: queryForEnded(numbers),
          columns: ENDED_COLUMNS,
          limit: 1000
        });
        return endedOf(page, name);
      },
      ask: number => client.job(number),
      notify: notice => {
        tell(notice, whose);
      }
    });
  };
  connection.stateChanged.connect(() => {
    const now = projectOf(connection);
    if (now !== '' && now !== project) {
      notices?.dispose();
      notices = noticesIn(now);
      project = now;
    }
  });
  connection.eventReceived.connect((_, event) => {
    notices?.hear(event);
    const told = budgetNotice(event, user());
    if (told !== null && isWanted()) {
      tell(told, project);
    }
  });
}

/** JupyterLab keeps it until somebody has seen it. */
function show(notice: INotice, open: ((job: number) => void) | null): void {
  const [first, ...others] = notice.jobs;
  const actions =
    first === undefined || others.length > 0 || open === null
      ? []
      : [
          {
            label: trans.__('Open job %1', first),
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
