import { ProjectClient } from '../core/projectClient';
import type { IAcaiConnection, IProjectConnection } from '../tokens';

/** What can be asked about the project that a connection is of. */
export function projectClient(connection: IProjectConnection): ProjectClient {
  return new ProjectClient(connection.client, () => projectOf(connection));
}

/** Its name; empty before the server has said it. */
export function projectOf(connection: IProjectConnection): string {
  const { state } = connection;
  return state.kind === 'connected' ? state.status.project : '';
}

/** The project that lines mean which name none; empty before the server has said it. */
export function usualProject(connection: IProjectConnection): string {
  const { state } = connection;
  return state.kind === 'connected' ? state.usual : '';
}

/** The name as a line has to say it: empty for the project that goes without saying. */
export function projectToName(
  connection: IProjectConnection,
  project = projectOf(connection)
): string {
  return project === usualProject(connection) ? '' : project;
}

/** The project that a command means: the one that it names, else the chosen one. */
export async function projectMeant(
  connection: IAcaiConnection,
  named: unknown
): Promise<string> {
  if (typeof named === 'string' && named !== '') {
    return named;
  }
  await connection.connect();
  return projectOf(connection);
}

/** The project that something on the page is of, as what it stands in says; empty for the chosen one. */
export function projectAround(node: HTMLElement | undefined): string {
  const place = node?.closest<HTMLElement>(
    '[data-acai-project]:not([data-acai-project=""])'
  );
  return place?.dataset.acaiProject ?? '';
}

/** A tab's title, which names the project where that is none that goes without saying. */
export function titleIn(connection: IProjectConnection, title: string): string {
  const project = projectToName(connection);
  return project === '' ? title : `${title} · ${project}`;
}
