/** Tells which nodes of a page can be seen, or soon will; one observer for all of them. */
export class Visibility {
  /** `onChange` is called with what is so at first, and then when that changes. */
  watch(node: Element, onChange: (isVisible: boolean) => void): () => void {
    this.listeners.set(node, onChange);
    this.observer.observe(node);
    return () => {
      this.listeners.delete(node);
      this.observer.unobserve(node);
    };
  }

  private readonly listeners = new Map<Element, (isVisible: boolean) => void>();
  private readonly observer = new IntersectionObserver(
    entries => {
      for (const entry of entries) {
        this.listeners.get(entry.target)?.(entry.isIntersecting);
      }
    },
    { rootMargin: '200px' }
  );
}
