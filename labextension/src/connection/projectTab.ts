import type { MainAreaWidget } from '@jupyterlab/apputils';
import type { IDisposable } from '@lumino/disposable';

import { AwayNote } from '../panel/awayNote';
import type { IProjectConnection } from '../tokens';
import { projectOf, titleIn } from './project';

/** Let a tab say which project it is of and when the server is away, and end its connection with it. */
export function placeTab(
  tab: MainAreaWidget,
  connection: IProjectConnection & IDisposable,
  title: string
): void {
  const follow = () => {
    tab.title.label = titleIn(connection, title);
    tab.content.node.dataset.acaiProject = projectOf(connection);
  };
  connection.stateChanged.connect(follow);
  tab.contentHeader.addWidget(new AwayNote(connection));
  tab.disposed.connect(() => {
    connection.dispose();
  });
  follow();
}
