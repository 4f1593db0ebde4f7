import { cellsPlugin } from './cells/plugin';
import { connectionPlugin } from './connection/plugin';
import { dataPlugin } from './data/plugin';
import { jobsPlugin } from './jobs/plugin';
import {
  jobsSectionPlugin,
  overviewPlugin,
  statusPlugin
} from './overview/plugins';
import { panelPlugin } from './panel/plugin';
import { provenancePlugin } from './provenance/plugin';
import { viewsPlugin } from './views/plugin';
import { servicesPlugin } from './views/services';

export * from './tokens';

export default [
  connectionPlugin,
  panelPlugin,
  overviewPlugin,
  statusPlugin,
  jobsSectionPlugin,
  servicesPlugin,
  jobsPlugin,
  cellsPlugin,
  dataPlugin,
  provenancePlugin,
  viewsPlugin
];
