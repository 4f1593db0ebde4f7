import type { JupyterFrontEnd } from '@jupyterlab/application';

import type { INotebook } from './notebook';

/** The notebooks of the page, and which one somebody works in. */
export class OpenNotebooks {
  constructor(private readonly shell: JupyterFrontEnd.IShell) {
    shell.currentChanged?.connect(() => {
      this.before = this.current ?? this.before;
    });
  }

  add(notebook: INotebook): void {
    this.all.add(notebook);
  }

  delete(notebook: INotebook): void {
    this.all.delete(notebook);
  }

  get current(): INotebook | null {
    return this.find(
      one => (one as unknown) === (this.shell.currentWidget as unknown)
    );
  }

  /** The one that was worked in last, also while a tab beside it is looked at. */
  get last(): INotebook | null {
    const { before } = this;
    return this.current ?? (before?.isDisposed === false ? before : null);
  }

  at(path: string): INotebook | null {
    return this.find(one => one.context.path === path);
  }

  private find(isIt: (one: INotebook) => boolean): INotebook | null {
    return [...this.all].find(isIt) ?? null;
  }

  private readonly all = new Set<INotebook>();
  private before: INotebook | null = null;
}
