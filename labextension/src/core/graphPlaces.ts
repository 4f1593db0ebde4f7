import type { IDrawGraph, IDrawnNode, IStep } from '../contract';

/** What somebody looks at: which thing is in the middle, of which project, and what was opened around it. */
export interface IGraphPlace {
  /** A file set like `model:2`, or a job's number; empty for the whole project. */
  readonly focus: string;
  /** Empty for the page's own. */
  readonly project: string;
  readonly steps: readonly IStep[];
  /** Only what lies between this file set and the middle is drawn. */
  readonly pathTo: string;
  /** What it is not true of is faded. */
  readonly query: string;
  /** Of a project: what each page that was turned begins behind; none on the first one. */
  readonly pages: readonly string[];
}

/** A place where somebody was, and the node that they had selected; null before it is drawn. */
export interface IVisit {
  readonly place: IGraphPlace;
  chosen: string | null;
}

export const START: IGraphPlace = {
  focus: '',
  project: '',
  steps: [],
  pathTo: '',
  query: '',
  pages: []
};

/** So many places are found again after a reload. */
const KEPT = 10;
const DIRECTIONS: readonly unknown[] = ['back', 'forward', 'group'];

export function isSamePlace(one: IGraphPlace, other?: IGraphPlace): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A visit in a project, if it was not known in which. */
export function visitIn(project: string, visit: IVisit): IVisit {
  const { place, chosen } = visit;
  return place.project === '' && project !== ''
    ? { place: { ...place, project }, chosen }
    : visit;
}

/** How to ask for what is to be seen in a place, with these nodes where they are. */
export function requestFor(
  { focus, steps, pathTo, query, pages }: IGraphPlace,
  nodes: readonly IDrawnNode[] = [],
  utcOffsetSeconds = 0
): IDrawGraph {
  return {
    focus,
    steps: [...steps],
    path_to: pathTo,
    query,
    places: Object.fromEntries(nodes.map(({ id, x, y }) => [id, [x, y]])),
    before: pages.at(-1) ?? null,
    with_svg: true,
    utc_offset_seconds: utcOffsetSeconds
  };
}

/** The last places as JSON, which a layout keeps. */
export function keptVisits(visits: readonly IVisit[]) {
  return visits.slice(-KEPT).map(({ place, chosen }) => ({
    ...place,
    steps: place.steps.map(one => ({ ...one })),
    chosen
  }));
}

/** What a layout has kept; what is no place is left out. */
export function visitsFrom(kept: unknown): IVisit[] {
  return listOf(kept).map(one => {
    const said = (one ?? {}) as Record<string, unknown>;
    const { focus, project, pathTo, query, chosen, steps, pages } = said;
    const place = {
      focus: textOf(focus),
      project: textOf(project),
      steps: listOf(steps).filter(isStep),
      pathTo: textOf(pathTo),
      query: textOf(query),
      pages: listOf(pages).map(textOf)
    };
    return { place, chosen: typeof chosen === 'string' ? chosen : null };
  });
}

function isStep(kept: unknown): kept is IStep {
  const { node, direction } = (kept ?? {}) as Partial<IStep>;
  return typeof node === 'string' && DIRECTIONS.includes(direction);
}

function listOf(kept: unknown): unknown[] {
  return Array.isArray(kept) ? kept : [];
}

function textOf(kept: unknown): string {
  return typeof kept === 'string' ? kept : '';
}
