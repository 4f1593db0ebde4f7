import type {
  IAffected,
  IComponent,
  IDrawGraph,
  IDrawing,
  IExportFormat,
  IMetadata,
  IProjectGraph,
  IThingChange,
  IWhyDifferent
} from '../contract';
import type { AcaiClient } from './client';
import { findThing, type IGraphSource } from './graphSource';

/** As much as the server gives at once. */
const PAGE = { limit: '100', names: '1000' };

/** Drawings, and what is known of the things in them, as the server has them. */
export class GraphClient implements IGraphSource {
  constructor(
    private readonly client: AcaiClient,
    /** The page's own project, which is meant where none is named. */
    private readonly ownProject: () => string
  ) {}

  draw(request: IDrawGraph, project: string): Promise<IDrawing> {
    return this.post(`${this.base(project)}/drawings`, request);
  }

  metadata(thing: string, project: string): Promise<IMetadata> {
    const query = new URLSearchParams({ thing }).toString();
    return this.client.request(`${this.base(project)}/metadata?${query}`);
  }

  change(change: IThingChange, project: string): Promise<unknown> {
    return this.post(`${this.base(project)}/metadata`, { changes: [change] });
  }

  find(text: string, project: string): Promise<string> {
    return findThing(
      request => this.post(`${this.base(project)}/find`, request),
      text
    );
  }

  /** All that a thing was made of, written down for another program. */
  lineage(
    thing: string,
    format: IExportFormat,
    project: string
  ): Promise<string> {
    const ref = encodeURIComponent(thing);
    return this.client.text(
      `${this.base(project)}/provenance/${ref}/export?format=${format}`
    );
  }

  /** The graph of a project by the names of its file sets, as JSON. */
  async wholeProject(project: string): Promise<string> {
    const components: IComponent[] = [];
    let next: string | null = null;
    do {
      const query = new URLSearchParams(PAGE);
      if (next !== null) {
        query.set('before', next);
      }
      const path = `${this.base(project)}/provenance?${query.toString()}`;
      const page: IProjectGraph = await this.client.request(path);
      components.push(...page.components);
      next = page.next ?? null;
    } while (next !== null);
    return JSON.stringify({ components }, null, 1);
  }

  /** What would have to be made again if a file set version changed. */
  affected(ref: string, project: string): Promise<IAffected> {
    const path = `provenance/${encodeURIComponent(ref)}/affected?limit=200`;
    return this.client.request(`${this.base(project)}/${path}`);
  }

  /** In what the lineages of two things differ. */
  difference(
    before: string,
    after: string,
    project: string
  ): Promise<IWhyDifferent> {
    const query = new URLSearchParams({ before, after }).toString();
    return this.client.request(`${this.base(project)}/difference?${query}`);
  }

  private post<T>(path: string, body: object): Promise<T> {
    return this.client.request(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body)
    });
  }

  private base(project: string): string {
    return `v1/projects/${encodeURIComponent(project || this.ownProject())}`;
  }
}
