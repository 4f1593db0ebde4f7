import { JobContent } from './job/content';
import { JobsContent } from './jobs/content';
import type { IView, Kind } from './renderer';
import type { ViewServices } from './services';
import { SweepContent } from './sweep/content';

/** The view of a kind of thing. Loaded when the first one is seen. */
export function createView(kind: Kind, services: ViewServices): IView {
  switch (kind) {
    case 'job':
      return new JobContent(services);
    case 'jobs':
      return new JobsContent(services);
    case 'sweep':
      return new SweepContent(services);
  }
}
