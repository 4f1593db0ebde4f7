import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import * as React from 'react';

import type { JobForm } from '../core/jobForm';
import type { RunQuestion } from '../core/runQuestion';
import { ownKeys } from '../panel/ownKeys';
import type { IFollowedRun } from './followedRun';
import { FormView } from './formView';

/** What the options of a cell stand among. */
export interface IFormSurroundings {
  form: JobForm;
  /** What the cell's output names; null where it names none. */
  ran: IFollowedRun | null;
  /** Runs the cell, and asks before while an earlier run goes on. */
  question: RunQuestion;
  kernel: () => string;
  /** Which groups of options are open from the start. */
  openGroups: readonly string[];
  onClose: () => void;
}

/** The options of a cell's job, above its code. Loaded with the first one. */
export class FormWidget extends ReactWidget {
  constructor(private readonly around: IFormSurroundings) {
    super();
    this.addClass('jp-AcaiView');
    this.addClass('jp-AcaiForm');
    ownKeys(this.node);
  }

  /**
   * Move the focus to the first field: now, or as soon as there is one. Not with `renderPromise`, which is resolved when the browser
   * is idle: on a busy machine the person has moved on by then, and the focus would be taken away from the button they press.
   */
  focusFirst(): void {
    // eslint-disable-next-line acai/untranslated -- a selector
    const first = this.node.querySelector<HTMLElement>('textarea, input');
    this.isFocusWanted = first === null;
    first?.focus();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.node.addEventListener('keydown', this.onKey);
  }

  protected override onBeforeDetach(message: Message): void {
    this.node.removeEventListener('keydown', this.onKey);
    super.onBeforeDetach(message);
  }

  protected override render(): React.ReactElement {
    return <FormView {...this.around} onShown={this.onShown} />;
  }

  private readonly onShown = (form: HTMLElement | null): void => {
    if (form !== null && this.isFocusWanted) {
      this.focusFirst();
    }
  };

  private readonly onKey = (event: KeyboardEvent): void => {
    // What a field offers is put away first; React hears of the key before us, or after.
    const isForOffers =
      event.defaultPrevented ||
      this.node.querySelector('.jp-AcaiForm-offers') !== null;
    if (event.key === 'Escape' && !isForOffers) {
      event.stopPropagation();
      this.around.onClose();
    }
  };

  private isFocusWanted = false;
}
