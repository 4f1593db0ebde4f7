/** Which jobs of a list are chosen. */
export type Chosen = ReadonlySet<string>;

export const NOTHING: Chosen = new Set();

/** Choose one more, or not any more. */
export function toggled(chosen: Chosen, thing: string): Chosen {
  const next = new Set(chosen);
  if (!next.delete(thing)) {
    next.add(thing);
  }
  return next;
}

export function joined(chosen: Chosen, things: readonly string[]): Chosen {
  return new Set([...chosen, ...things]);
}

export function without(chosen: Chosen, things: readonly string[]): Chosen {
  const gone = new Set(things);
  return new Set([...chosen].filter(thing => !gone.has(thing)));
}
