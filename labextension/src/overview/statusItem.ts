import type { Message } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { projectToName } from '../connection/project';
import type { OverviewStore } from '../core/overviewStore';
import { describeProject } from '../core/overviewText';
import { trans } from '../core/translation';
import { describeState, describeTrouble } from '../panel/stateLine';
import type { IAcaiConnection } from '../tokens';

/** Between two events, what runs goes on costing. */
const TICK_MS = 30_000;

/** In the status bar, where there is one: how many jobs run and wait, and what today cost. A click opens the panel. */
export class StatusItem extends Widget {
  constructor(
    private readonly store: OverviewStore,
    private readonly connection: IAcaiConnection,
    /** The panel, as far as it is there. */
    private readonly panel: { isThere: () => boolean; open: () => void }
  ) {
    super();
    this.addClass('jp-AcaiStatus');
    this.button.type = 'button';
    this.button.className = 'jp-AcaiStatus-button';
    this.button.hidden = true; // until there is something to say
    this.button.addEventListener('click', panel.open);
    this.node.append(this.button);
    this.unsubscribe = store.subscribe(() => {
      this.follow();
    });
    connection.stateChanged.connect(this.onState);
  }

  /** There is something to say from now on. */
  readonly activeChanged = new Signal<this, void>(this);

  /** Nothing is said before the server has been heard. */
  get isActive(): boolean {
    return this.store.overview !== null;
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.unsubscribe();
      this.connection.stateChanged.disconnect(this.onState);
      clearInterval(this.timer);
      super.dispose();
    }
  }

  protected override onUpdateRequest(message: Message): void {
    super.onUpdateRequest(message);
    const { overview } = this.store;
    if (overview !== null) {
      const cost = this.store.costToday(new Date());
      this.button.hidden = false;
      this.button.disabled = !this.panel.isThere();
      const { state } = this.connection;
      const name = ['ACAI', projectToName(this.connection)];
      const said = [describeProject(overview, cost), describeTrouble(state)];
      this.button.textContent = trans.__(
        '%1: %2',
        name.filter(Boolean).join(' '),
        said.filter(Boolean).join(' · ')
      );
      this.button.title =
        describeTrouble(state) === ''
          ? trans.__('Jobs of this project, and what today cost')
          : describeState(state).sentence;
    }
  }

  private readonly onState = (): void => {
    this.update();
  };

  private follow(): void {
    if (this.isActive !== this.wasActive) {
      this.wasActive = this.isActive;
      this.activeChanged.emit();
    }
    clearInterval(this.timer);
    if ((this.store.overview?.running.length ?? 0) > 0) {
      this.timer = setInterval(() => {
        this.update();
      }, TICK_MS);
    }
    this.update();
  }

  private readonly button = document.createElement('button');
  private readonly unsubscribe: () => void;
  private wasActive = false;
  private timer: ReturnType<typeof setInterval> | undefined;
}
