import type { JupyterFrontEnd } from '@jupyterlab/application';
import { SplitPanel, TabPanel, type Widget } from '@lumino/widgets';

/** Below this the tabs under a notebook show little but their names. */
const LEAST_HEIGHT = 160;

/**
 * Put a tab where the page has room. Notebook 7 shows one thing in its main area and takes no second one, without a word, but has
 * tabs below it.
 */
export function addTab(
  shell: JupyterFrontEnd.IShell,
  tab: Widget,
  options: { mode?: 'split-bottom' } = {}
): void {
  shell.add(tab, 'main', options);
  if (tab.parent === null) {
    shell.add(tab, 'down');
  }
}

/** Bring a tab to the front, also of the tabs below. */
export function showTab(shell: JupyterFrontEnd.IShell, tab: Widget): void {
  const tabs = tab.parent?.parent;
  if (tabs instanceof TabPanel) {
    tabs.currentWidget = tab;
    makeRoom(tabs);
  }
  shell.activateById(tab.id);
}

/** Half of the page, unless somebody has given them room already. */
function makeRoom(tabs: TabPanel): void {
  const page = tabs.parent;
  if (
    page instanceof SplitPanel &&
    (tabs.isHidden || tabs.node.offsetHeight < LEAST_HEIGHT)
  ) {
    tabs.show();
    page.setRelativeSizes([1, 1]);
  }
}
