import type { Widget } from '@lumino/widgets';

/** What is needed of JupyterLab's file browser, whose package would bring its dialogs along. */
interface IBrowser {
  selectedItems(): Iterable<{
    readonly path: string;
    readonly type: string;
  }>;
}

/** The kinds of files that `submit` knows how to start. */
const PROGRAM = /\.(?:py|ipynb|sh|bash|r|jl|js|pl|rb)$/i;
/** In a name these would end the line that it is written on, and begin another one. */
// eslint-disable-next-line no-control-regex -- these are what is looked for
const LINE_END = /[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;

/** The one program that is selected in the file browser around a node; empty where that is none, or several things. */
export function selectedProgram(
  roots: Iterable<Widget>,
  node: HTMLElement
): string {
  const browser = browserAround([...roots], node);
  const selected = browser === null ? [] : [...browser.selectedItems()];
  const [only] = selected;
  return only !== undefined &&
    selected.length === 1 &&
    only.type !== 'directory' &&
    PROGRAM.test(only.path) &&
    !LINE_END.test(only.path)
    ? only.path
    : '';
}

function browserAround(
  widgets: readonly Widget[],
  node: HTMLElement
): IBrowser | null {
  for (const widget of widgets) {
    if (widget.node.contains(node)) {
      return isBrowser(widget)
        ? widget
        : browserAround([...(widget.layout ?? [])], node);
    }
  }
  return null;
}

function isBrowser(widget: object): widget is Widget & IBrowser {
  return (
    'selectedItems' in widget && typeof widget.selectedItems === 'function'
  );
}
