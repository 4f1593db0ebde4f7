import { connectionPlugin } from './connection/plugin';
import { panelPlugin } from './panel/plugin';

export * from './tokens';

export default [connectionPlugin, panelPlugin];
