import type { ISignal } from '@lumino/signaling';
import type { Layout } from '@lumino/widgets';

/** What is needed of a kernel. */
export interface IKernel {
  requestExecute(content: {
    code: string;
    silent: boolean;
    store_history: boolean;
    stop_on_error: boolean;
  }): {
    readonly done: Promise<{
      readonly content:
        | { readonly status: 'error'; readonly evalue: string }
        | { readonly status: 'ok' | 'abort' };
    }>;
  };
}

/** What is needed of an output of a cell. */
export interface IOutputModel {
  readonly type: string;
  readonly data: { readonly [type: string]: unknown };
}

export interface IOutputs {
  readonly length: number;
  get(index: number): IOutputModel;
  readonly changed: ISignal<unknown, unknown>;
}

/** What is needed of a cell's model; only code has outputs. */
export interface ICellModel {
  readonly type: string;
  readonly outputs?: IOutputs;
  /** Null while it was not run yet. */
  readonly executionCount?: number | null;
  readonly executionState?: string;
  readonly contentChanged: ISignal<unknown, unknown>;
  /** Also when the kernel begins with it, and when it is done. */
  readonly stateChanged: ISignal<unknown, unknown>;
  readonly sharedModel: {
    getId(): string;
    getSource(): string;
    /** Put a text in place of what stands from `start` to before `end`. */
    updateSource(start: number, end: number, text: string): void;
    transact(change: () => void, undoable?: boolean): void;
  };
}

/** What is needed of a cell of a notebook. */
export interface ICell {
  readonly model: ICellModel;
  readonly isDisposed: boolean;
  readonly disposed: ISignal<unknown, unknown>;
  /** Resolves when it has been laid out, which is when it comes into sight for the first time. */
  readonly ready: Promise<void>;
  readonly layout: Layout | null;
  readonly editor?: {
    setCursorPosition(position: { line: number; column: number }): void;
  } | null;
}

/** What is needed of a notebook, without all that its package brings along. */
export interface INotebook {
  readonly id: string;
  readonly isDisposed: boolean;
  readonly disposed: ISignal<unknown, unknown>;
  /** Resolves when it is first shown, with what it holds. */
  readonly revealed: Promise<void>;
  readonly sessionContext: {
    readonly kernelDisplayName: string;
    readonly ready: Promise<void>;
    /** Null where it has no kernel. */
    readonly session: { readonly kernel: IKernel | null } | null;
    /** The one that the notebook would have been opened with; resolves to whether somebody has to choose one. */
    startKernel(): Promise<boolean>;
  };
  readonly content: {
    readonly widgets: readonly ICell[];
    readonly activeCell: ICell | null;
    activeCellIndex: number;
    mode: 'command' | 'edit';
    /** Gives it the keyboard. */
    activate(): void;
    /** Leaves only the active cell selected. */
    deselectAll(): void;
    scrollToCell(cell: ICell): Promise<void>;
    readonly activeCellChanged: ISignal<unknown, unknown>;
  };
  readonly context: {
    /** Where its file is. */
    readonly path: string;
    readonly ready: Promise<void>;
    readonly model: {
      readonly defaultKernelLanguage: string;
      readonly readOnly: boolean;
      readonly cells: { readonly changed: ISignal<unknown, unknown> };
      readonly sharedModel: {
        insertCell(
          index: number,
          cell: {
            cell_type: 'code';
            source: string;
            metadata: { trusted: boolean };
          }
        ): { getId(): string };
        deleteCell(index: number): void;
        transact(change: () => void, undoable?: boolean): void;
      };
    };
  };
}
