import type { ILayoutRestorer, JupyterFrontEnd } from '@jupyterlab/application';
import { type MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';

import { trans } from '../core/translation';
import { addTab, showTab } from './places';

/** The command that opens a tab, and what it is given. */
export interface ITabArgs {
  command: string;
  [name: string]: string | number;
}

/** The tabs of an area, each of which can be opened again when the page is loaded anew. */
export class MainTabs {
  constructor(
    private readonly app: JupyterFrontEnd,
    private readonly namespace: string
  ) {
    this.tracker = new WidgetTracker<MainAreaWidget>({ namespace });
  }

  /** Show the tab of that name; make it when there is none. */
  async show(
    id: string,
    args: ITabArgs,
    make: () => MainAreaWidget
  ): Promise<MainAreaWidget> {
    let tab = this.tracker.find(one => one.id === id);
    if (tab === undefined) {
      tab = make();
      tab.id = id;
      this.args.set(id, args);
      addTab(this.app.shell, tab);
      await this.tracker.add(tab);
    }
    showTab(this.app.shell, tab);
    return tab;
  }

  restore(restorer: ILayoutRestorer): void {
    const restore = `${this.namespace}:restore-tab`;
    void restorer.restore(this.tracker, {
      command: restore,
      args: tab => ({ ...this.args.get(tab.id) }),
      name: tab => tab.id
    });
    this.app.commands.addCommand(restore, {
      label: trans.__('Show What Was Open'),
      isVisible: () => false,
      execute: ({ command, ...args }) =>
        typeof command === 'string'
          ? this.app.commands.execute(command, args)
          : undefined
    });
  }

  private readonly args = new Map<string, ITabArgs>();
  private readonly tracker: WidgetTracker<MainAreaWidget>;
}
