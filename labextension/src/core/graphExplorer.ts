import type {
  IDrawGraph,
  IDrawing,
  IDrawnNode,
  IMetadata,
  IStep,
  IThingChange
} from '../contract';
import { asAcaiError } from './connectionStore';
import type { AcaiError } from './errors';

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
  /** Of a project: only what changed last before this. */
  readonly before: string | null;
}

/** Where graphs come from, and what is known of the things in them. */
export interface IGraphSource {
  draw(request: IDrawGraph, project: string): Promise<IDrawing>;
  metadata(thing: string, project: string): Promise<IMetadata>;
  change(change: IThingChange, project: string): Promise<unknown>;
}

const START: IGraphPlace = {
  focus: '',
  project: '',
  steps: [],
  pathTo: '',
  query: '',
  before: null
};

/** One person's look at the graph of provenance, with a way back as a browser has. */
export class GraphExplorer {
  constructor(
    private readonly source: IGraphSource,
    private readonly utcOffsetSeconds = 0
  ) {}

  get drawing(): IDrawing | null {
    return this._drawing;
  }

  get error(): AcaiError | null {
    return this._error;
  }

  get place(): IGraphPlace {
    return this.trail.at(-1) ?? START;
  }

  get canGoBack(): boolean {
    return this.trail.length > 1;
  }

  /** How often all was laid out anew; else what was drawn before has kept its place. */
  get layout(): number {
    return this._layout;
  }

  get selected(): IDrawnNode | null {
    return this._drawing?.nodes.find(one => one.id === this.chosen) ?? null;
  }

  /** All that is known of what is selected, once the server has said it. */
  get known(): IMetadata | null {
    return this._known;
  }

  /** The file set from which the next path is to be drawn. */
  get pathFrom(): string {
    return this._pathFrom;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  /** Put a thing in the middle, and select it; without one the whole project is drawn. */
  async show(focus: string, project = this.place.project): Promise<void> {
    const { query } = project === this.place.project ? this.place : START;
    await this.go({ ...START, focus, project, query });
    this.select(this._drawing?.focus ?? '');
  }

  /** Draw further from a file set, or each of the jobs behind one node. */
  async open(node: string, direction: IStep['direction']): Promise<void> {
    const { place } = this;
    const isOpen = place.steps.some(
      one => one.node === node && one.direction === direction
    );
    if (!isOpen) {
      const steps = [...place.steps, { node, direction }];
      await this.go({ ...place, steps }, true);
    }
  }

  /** Of a project: what changed before what is drawn. */
  async older(): Promise<void> {
    const before = this._drawing?.next ?? null;
    if (before !== null) {
      await this.go({ ...this.place, before });
    }
  }

  /** Draw the same as it is now. */
  async refresh(): Promise<void> {
    if (this._drawing !== null) {
      await this.ask(true);
      await this.learn();
    }
  }

  /** Ask for the same, also when nothing could be drawn yet. */
  async askAgain(): Promise<void> {
    await this.ask(this._drawing !== null);
    await this.learn();
  }

  async filter(query: string): Promise<void> {
    if (query.trim() !== this.place.query) {
      await this.go({ ...this.place, query: query.trim() }, true);
    }
  }

  /** Remember the selected file set: the next path begins there. */
  startPath(): void {
    if (this.selected?.kind === 'file-set') {
      this._pathFrom = this.selected.thing ?? '';
      this.tell();
    }
  }

  /** Draw only what lies between the remembered file set and the selected one. */
  async endPath(): Promise<void> {
    const to = this.selected?.thing ?? '';
    const from = this._pathFrom;
    if (from !== '' && to !== '' && from !== to) {
      this._pathFrom = '';
      await this.go({ ...this.place, ...RESET, focus: from, pathTo: to });
    }
  }

  async goBack(): Promise<void> {
    if (this.canGoBack) {
      this.trail.pop();
      await this.ask(false);
    }
  }

  /** Show all that is known of a node. */
  select(id: string): void {
    this.chosen = id;
    this._known = null;
    this.tell();
    void this.learn();
  }

  /** Select what a text names best: what begins with it before what only has it. */
  find(text: string): boolean {
    const wanted = text.trim().toLowerCase();
    const named = (this._drawing?.nodes ?? [])
      .map(one => ({ id: one.id, name: nameOf(one).toLowerCase() }))
      .filter(one => wanted !== '' && one.name.includes(wanted));
    const found = named.find(one => one.name.startsWith(wanted)) ?? named[0];
    if (found !== undefined) {
      this.select(found.id);
    }
    return found !== undefined;
  }

  /** Change attributes and labels of what is selected. Rejects when the server refuses. */
  async tag(change: Omit<IThingChange, 'thing'>): Promise<void> {
    const thing = this.selected?.thing ?? '';
    if (thing !== '') {
      try {
        await this.source.change({ thing, ...change }, this.place.project);
      } finally {
        await this.learn();
      }
    }
  }

  private async go(place: IGraphPlace, keepsPlaces = false): Promise<void> {
    const isSame = JSON.stringify(place) === JSON.stringify(this.trail.at(-1));
    if (!isSame) {
      this.trail.push(place);
    }
    if (!(await this.ask(keepsPlaces)) && !isSame && this.canGoBack) {
      this.trail.splice(this.trail.lastIndexOf(place), 1);
      this.tell();
    }
  }

  /** Whether it could be drawn, or something else was asked for meanwhile. What was drawn stays when it could not. */
  private async ask(keepsPlaces: boolean): Promise<boolean> {
    const place = this.trail.at(-1) ?? START;
    this.asked += 1;
    const turn = this.asked;
    try {
      const request = this.requestOf(place, keepsPlaces);
      const drawing = await this.source.draw(request, place.project);
      if (turn === this.asked) {
        this._drawing = drawing;
        this._error = null;
        this._layout += keepsPlaces ? 0 : 1;
      }
    } catch (error) {
      if (turn === this.asked) {
        this._error = asAcaiError(error);
        this.tell();
        return false;
      }
    }
    this.tell();
    return true;
  }

  private requestOf(place: IGraphPlace, keepsPlaces: boolean): IDrawGraph {
    const { focus, steps, pathTo, query, before } = place;
    const nodes = keepsPlaces ? (this._drawing?.nodes ?? []) : [];
    return {
      focus,
      steps: [...steps],
      path_to: pathTo,
      query,
      places: Object.fromEntries(nodes.map(({ id, x, y }) => [id, [x, y]])),
      before: focus === '' ? before : null,
      with_svg: true,
      utc_offset_seconds: this.utcOffsetSeconds
    };
  }

  private async learn(): Promise<void> {
    const { chosen } = this;
    const thing = this.selected?.thing ?? '';
    if (thing === '') {
      return;
    }
    try {
      const known = await this.source.metadata(thing, this.place.project);
      if (chosen === this.chosen) {
        this._known = known;
        this.tell();
      }
    } catch (error) {
      if (chosen === this.chosen) {
        this._error = asAcaiError(error);
        this.tell();
      }
    }
  }

  private tell(): void {
    for (const listener of [...this.listeners]) {
      listener();
    }
  }

  private readonly trail: IGraphPlace[] = [];
  private readonly listeners = new Set<() => void>();
  private asked = 0;
  private chosen = '';
  private _drawing: IDrawing | null = null;
  private _error: AcaiError | null = null;
  private _known: IMetadata | null = null;
  private _pathFrom = '';
  private _layout = 0;
}

const RESET = { steps: [], pathTo: '', before: null };

/** How people find a node: the whole name of a set, or the label of a job. */
function nameOf(node: IDrawnNode): string {
  return node.kind === 'file-set' ? (node.thing ?? '') : node.label;
}
