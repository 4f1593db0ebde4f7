import type {
  IDrawing,
  IDrawnNode,
  IMetadata,
  IStep,
  IThingChange
} from '../contract';
import { asAcaiError } from './connectionStore';
import { nodesNamed } from './drawnNodes';
import type { AcaiError } from './errors';
import {
  type IGraphPlace,
  isSamePlace,
  type IVisit,
  requestFor,
  START,
  visitIn
} from './graphPlaces';
import { GraphSearch } from './graphSearch';
import type { IGraphSource } from './graphSource';

/** A question for a drawing. */
interface IAttempt {
  /** Where somebody has been once it is answered, the last being what is drawn then. */
  readonly trail: readonly IVisit[];
  readonly keepsPlaces?: boolean;
  /** What was selected stays so, rather than what is in the middle. */
  readonly keepsChosen?: boolean;
  /** Nobody waits for it. */
  readonly isQuiet?: boolean;
}

/** One person's look at the graph of provenance, with a way back as a browser has. */
export class GraphExplorer {
  constructor(
    private readonly source: IGraphSource,
    private readonly utcOffsetSeconds = 0,
    /** The page's own project, which is meant where none is named; empty as long as nobody knows it. */
    private readonly ownProject = () => ''
  ) {
    this.search = new GraphSearch(source, this.tell);
  }

  get drawing(): IDrawing | null {
    return this._drawing;
  }

  get error(): AcaiError | null {
    return this._error ?? this.search.lost?.error ?? this.ignorance;
  }

  /** Whether the same may be answered another time: what was refused will be again. */
  get canAskAgain(): boolean {
    return !isRefused(this.error);
  }

  /** Whether somebody waits for a drawing. */
  get isAsking(): boolean {
    return this.pending !== null && this.pending.isQuiet !== true;
  }

  /** What is drawn. */
  get place(): IGraphPlace {
    return this.trail.at(-1)?.place ?? START;
  }

  /** Where somebody has been, and is; before anything is drawn, where they want to be. */
  get visits(): readonly IVisit[] {
    const aimed = this.pending ?? this.failed;
    return this._drawing === null ? (aimed?.trail ?? []) : this.trail;
  }

  get canGoBack(): boolean {
    return (this.pending?.trail ?? this.trail).length > 1;
  }

  /** How often all was laid out anew; else what was drawn before has kept its place. */
  get layout(): number {
    return this._layout;
  }

  get selected(): IDrawnNode | null {
    const chosen = this.trail.at(-1)?.chosen;
    return this._drawing?.nodes.find(one => one.id === chosen) ?? null;
  }

  /** All that is known of what is selected, once the server has said it. */
  get known(): IMetadata | null {
    return this._known;
  }

  /** What was looked for last, if nothing is called so. */
  get missing(): string {
    return this.search.missing;
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
  async show(focus: string, project = this.aim.project): Promise<void> {
    const { query } = project === this.aim.project ? this.aim : START;
    await this.go({ ...START, focus, project, query });
  }

  /** Go on where somebody was, with the same way back. */
  async restore(visits: readonly IVisit[]): Promise<void> {
    await this.pursue({ trail: visits });
  }

  /** Draw further from a file set, or each of the jobs behind one node. */
  async open(node: string, direction: IStep['direction']): Promise<void> {
    const { aim } = this;
    const isOpen = aim.steps.some(
      one => one.node === node && one.direction === direction
    );
    if (!isOpen) {
      const steps = [...aim.steps, { node, direction }];
      await this.go({ ...aim, steps }, STEADY);
    }
  }

  /** Of a project: what changed before what is drawn. */
  async older(): Promise<void> {
    const next = this._drawing?.next ?? null;
    if (next !== null) {
      const { place } = this;
      const pages = [...place.pages, next];
      await this.go({ ...place, pages }, { keepsChosen: true });
    }
  }

  /** Of a project: what changed after what is drawn. */
  async newer(): Promise<void> {
    const { place } = this;
    if (place.pages.length > 0) {
      const pages = place.pages.slice(0, -1);
      await this.go({ ...place, pages }, { keepsChosen: true });
    }
  }

  /** Draw the same as it is now. */
  async refresh(): Promise<void> {
    await this.attempt(this.pending ?? { ...this.again(), isQuiet: true });
  }

  /** Ask for what could not be drawn, or for the same. */
  async askAgain(): Promise<void> {
    const { lost } = this.search;
    if (this._error === null && lost !== null) {
      await this.find(lost.text);
    } else {
      await this.pursue(this.failed ?? this.again());
    }
  }

  async filter(query: string): Promise<void> {
    if (query.trim() === this.aim.query) {
      this._error = null;
      this.tell();
    } else {
      const place = { ...this.aim, query: query.trim() };
      await this.go(place, STEADY);
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
      const { project, query } = this.place;
      const place = { ...START, project, query, focus: from, pathTo: to };
      await this.go(place, { keepsChosen: true });
    }
  }

  async goBack(): Promise<void> {
    const trail = (this.pending?.trail ?? this.trail).slice(0, -1);
    if (trail.length > 0) {
      await this.pursue({ trail });
    }
  }

  /** Show all that is known of a node. */
  select(id: string): void {
    const visit = this.trail.at(-1);
    this.search.turnAway();
    if (visit !== undefined) {
      visit.chosen = id;
      this._known = null;
      this.tell();
      void this.learn();
    }
  }

  /** Select what a text names best, wherever in the project it is; false where nothing is called so. */
  async find(text: string): Promise<boolean> {
    const wanted = text.trim();
    const [drawn] = nodesNamed(this._drawing, wanted);
    if (drawn?.beginsSo === true) {
      this.select(drawn.id);
      return true;
    }
    const { project } = this.visits.at(-1)?.place ?? START;
    const thing = await this.search.found(wanted, project);
    return thing === null || (await this.showFound(thing, wanted, project));
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

  /** Where somebody wants to be: what they ask for next goes on from there. */
  private get aim(): IGraphPlace {
    return (this.pending?.trail ?? this.visits).at(-1)?.place ?? START;
  }

  private again(): IAttempt {
    return { trail: this.visits, keepsPlaces: this._drawing !== null };
  }

  private async showFound(
    thing: string,
    text: string,
    project: string
  ): Promise<boolean> {
    const isThere = project === this.place.project;
    const drawing = isThere ? this._drawing : null;
    const node =
      thing === ''
        ? nodesNamed(drawing, text)[0]
        : drawing?.nodes.find(one => one.thing === thing);
    if (node !== undefined) {
      this.select(node.id);
    } else if (thing === '') {
      this.search.miss(text);
    } else {
      await this.show(thing, project);
    }
    return node !== undefined || thing !== '';
  }

  private async go(
    place: IGraphPlace,
    how: Omit<IAttempt, 'trail'> = {}
  ): Promise<void> {
    const trail = this.pending?.trail ?? this.trail;
    const isSame = isSamePlace(place, trail.at(-1)?.place);
    const before = isSame ? trail.slice(0, -1) : trail;
    const visit = { place, chosen: null };
    await this.pursue({ ...how, trail: [...before, visit] });
  }

  /** Ask for what somebody wants now. */
  private async pursue(attempt: IAttempt): Promise<void> {
    this.search.turnAway();
    await this.attempt(attempt);
  }

  /** What was drawn before stays when this cannot be, and so does the way back. */
  private async attempt(wanted: IAttempt): Promise<void> {
    const project = this.ownProject();
    const trail = wanted.trail.map(one => visitIn(project, one));
    const attempt = { ...wanted, trail };
    const visit = attempt.trail.at(-1);
    if (visit === undefined) {
      return;
    }
    this.pending = attempt;
    this.asked += 1;
    const turn = this.asked;
    this.tell();
    try {
      const nodes = attempt.keepsPlaces === true ? this._drawing?.nodes : [];
      const request = requestFor(visit.place, nodes, this.utcOffsetSeconds);
      const drawing = await this.source.draw(request, visit.place.project);
      if (turn === this.asked) {
        this.arrive(attempt, visit, drawing);
        await this.learn();
      }
    } catch (error) {
      if (turn === this.asked) {
        this.pending = null;
        this.failed = attempt;
        this._error = asAcaiError(error);
        this.tell();
      }
    }
  }

  private arrive(attempt: IAttempt, visit: IVisit, drawing: IDrawing): void {
    const { place } = visit;
    const last = this.trail.at(-1);
    const before = this.selected?.thing;
    const isOther = place.project !== last?.place.project;
    const isEndedPath = place.pathTo !== '' && place.focus === this._pathFrom;
    if (visit !== last && (isOther || isEndedPath)) {
      this._pathFrom = '';
    }
    if (attempt.keepsChosen === true) {
      visit.chosen ??= last?.chosen ?? null;
    }
    if (!drawing.nodes.some(one => one.id === visit.chosen)) {
      visit.chosen = drawing.focus;
    }
    // What was refused is still wrong, whatever happens elsewhere meanwhile.
    const staysWrong = attempt.isQuiet === true && isRefused(this._error);
    this._error = staysWrong ? this._error : null;
    this.pending = null;
    this.failed = null;
    this._drawing = drawing;
    this._layout += attempt.keepsPlaces === true ? 0 : 1;
    this.trail = attempt.trail;
    if (isOther || before !== this.selected?.thing) {
      this._known = null;
    }
    this.tell();
  }

  private async learn(): Promise<void> {
    this.learned += 1;
    const turn = this.learned;
    const thing = this.selected?.thing ?? '';
    let known: IMetadata | null = null;
    let ignorance: AcaiError | null = null;
    try {
      if (thing !== '') {
        known = await this.source.metadata(thing, this.place.project);
      }
    } catch (error) {
      known = this._known;
      ignorance = asAcaiError(error);
    }
    if (turn === this.learned) {
      this._known = known;
      this.ignorance = ignorance;
      this.tell();
    }
  }

  private readonly tell = (): void => {
    for (const listener of [...this.listeners]) {
      listener();
    }
  };

  private trail: readonly IVisit[] = [];
  private readonly listeners = new Set<() => void>();
  private asked = 0;
  private learned = 0;
  private readonly search: GraphSearch;
  private pending: IAttempt | null = null;
  private failed: IAttempt | null = null;
  private _drawing: IDrawing | null = null;
  private _error: AcaiError | null = null;
  /** Why it is not known what stands on what is selected. */
  private ignorance: AcaiError | null = null;
  private _known: IMetadata | null = null;
  private _pathFrom = '';
  private _layout = 0;
}

/** What is drawn further leaves what is there, and what is selected. */
const STEADY = { keepsPlaces: true, keepsChosen: true };

/** The question itself is wrong, or what it names is not there. */
function isRefused(error: AcaiError | null): boolean {
  const status = error?.code === 'not_enabled' ? 0 : error?.status;
  return status === 400 || status === 404;
}
