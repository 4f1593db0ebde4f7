/**
 * Keep keys for what has the focus within a node: a notebook around it would take letters and arrows for its own commands.
 * What is pressed with Ctrl or ⌘, and Escape, is for the page as anywhere else.
 *
 * JupyterLab hears of keys last, at the document. An attribute that tells it to leave them alone does not help: it would
 * have to stand on each control, as commands of notebooks are for whatever has the focus.
 */
export function ownKeys(node: HTMLElement): void {
  node.addEventListener('keydown', event => {
    const isForPage = event.ctrlKey || event.metaKey || event.key === 'Escape';
    if (!isForPage) {
      event.stopPropagation();
    }
  });
}
