import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import type { ITransport } from '../core/client';

const BASE = 'acai/api';

/** Requests by JupyterLab's own rules: base URL, token, XSRF cookie. */
export function serverTransport(
  settings: ServerConnection.ISettings
): ITransport {
  return {
    fetch: (path, init) =>
      ServerConnection.makeRequest(
        URLExt.join(settings.baseUrl, BASE, path),
        { cache: 'no-store', ...init },
        settings
      ),
    openSocket: path =>
      new settings.WebSocket(
        withToken(URLExt.join(settings.wsUrl, BASE, path), settings)
      )
  };
}

/** A browser's WebSocket takes no headers, so where there is no cookie the token goes into the address. */
function withToken(url: string, settings: ServerConnection.ISettings): string {
  if (!settings.appendToken || settings.token === '') {
    return url;
  }
  const separator = url.includes('?') ? '&' : '?';
  return `${url}${separator}token=${encodeURIComponent(settings.token)}`;
}
