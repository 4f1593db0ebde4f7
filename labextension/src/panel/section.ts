import { LazyPart } from './lazyPart';
import type { IAcaiPanelSection } from '../tokens';

/** A part of the panel below a heading that opens and closes it. */
export class PanelSection extends LazyPart {
  constructor(section: IAcaiPanelSection) {
    super(section.load, document.createElement('details'));
    this.addClass('jp-AcaiPanel-section');
    this.rank = section.rank;
    this.details = this.node as HTMLDetailsElement;
    this.details.open = section.isOpen;
    const heading = document.createElement('summary');
    heading.textContent = section.title;
    this.details.prepend(heading);
    this.details.addEventListener('toggle', () => {
      this.wake();
    });
  }

  readonly rank: number;

  protected override get canBeSeen(): boolean {
    return this.isVisible && this.details.open;
  }

  private readonly details: HTMLDetailsElement;
}
