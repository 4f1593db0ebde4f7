import { ProjectClient } from '../core/projectClient';
import type { IAcaiConnection } from '../tokens';

/** What can be asked about the project whose events reach this page. */
export function projectClient(connection: IAcaiConnection): ProjectClient {
  return new ProjectClient(connection.client, () => projectOf(connection));
}

/** Its name; empty before the server has said it. */
export function projectOf(connection: IAcaiConnection): string {
  const { state } = connection;
  return state.kind === 'connected' ? state.status.project : '';
}
