/** Which jobs of a list are chosen, and up to where a range goes. */
export interface ISelection {
  chosen: ReadonlySet<string>;
  /** The row that a range begins at. */
  anchor: number;
}

export const NOTHING: ISelection = { chosen: new Set(), anchor: 0 };

/** Choose one more, or not any more. */
export function toggle(
  selection: ISelection,
  thing: string,
  index: number
): ISelection {
  const chosen = new Set(selection.chosen);
  if (!chosen.delete(thing)) {
    chosen.add(thing);
  }
  return { chosen, anchor: index };
}

/** Choose all from the anchor to a row too, as far as they are known. */
export function extend(
  selection: ISelection,
  index: number,
  thingAt: (index: number) => string | undefined
): ISelection {
  const chosen = new Set(selection.chosen);
  const [first, last] = [selection.anchor, index].sort((a, b) => a - b);
  for (let at = first ?? 0; at <= (last ?? 0); at += 1) {
    const thing = thingAt(at);
    if (thing !== undefined) {
      chosen.add(thing);
    }
  }
  return { chosen, anchor: selection.anchor };
}
