import { trans } from './translation';

/** How two texts differ, line by line. */

/** A line of a comparison: on both sides, or on one of them. */
export interface IDiffLine {
  kind: 'same' | 'removed' | 'added' | 'skipped';
  text: string;
  /** Counted from one; null where it is not on that side. */
  before: number | null;
  after: number | null;
}

/** So many lines may differ; what differs in more is rather told than shown. */
const MOST_EDITS = 1_000;
/** So many lines that are the same stand around what differs. */
const AROUND = 3;

/** Null where the two have too little in common to be shown line by line. */
export function diffLines(before: string, after: string): IDiffLine[] | null {
  const [left, right] = [linesOf(before), linesOf(after)];
  let begin = 0;
  while (begin < left.length && left[begin] === right[begin]) {
    begin += 1;
  }
  let end = 0;
  const room = Math.min(left.length, right.length) - begin;
  while (end < room && left.at(-1 - end) === right.at(-1 - end)) {
    end += 1;
  }
  const kept = steps(
    left.slice(begin, left.length - end),
    right.slice(begin, right.length - end)
  );
  if (kept === null) {
    return null;
  }
  const same = (count: number) =>
    Array.from({ length: count }, () => 'same' as const);
  return written([...same(begin), ...kept, ...same(end)], left, right);
}

/** Only what differs, with a few lines around it; `skipped` stands for the rest. */
export function folded(lines: readonly IDiffLine[]): IDiffLine[] {
  const isNear = new Uint8Array(lines.length);
  lines.forEach((line, at) => {
    if (line.kind !== 'same') {
      isNear.fill(1, Math.max(0, at - AROUND), at + AROUND + 1);
    }
  });
  const found: IDiffLine[] = [];
  let skipped = 0;
  const tell = () => {
    if (skipped > 0) {
      const text = trans._n(
        '%2 line the same',
        '%2 lines the same',
        skipped,
        skipped.toLocaleString('en-US')
      );
      found.push({ kind: 'skipped', text, before: null, after: null });
      skipped = 0;
    }
  };
  lines.forEach((line, at) => {
    if (isNear[at] === 1) {
      tell();
      found.push(line);
    } else {
      skipped += 1;
    }
  });
  tell();
  return found;
}

type Step = 'same' | 'removed' | 'added';

/** A shortest way from one side to the other, by the furthest places that so many edits reach (Myers 1986). */
function steps(left: string[], right: string[]): Step[] | null {
  const most = Math.min(left.length + right.length, MOST_EDITS);
  const reached = new Reached(most);
  for (let edits = 0; edits <= most; edits += 1) {
    reached.keep();
    for (let line = -edits; line <= edits; line += 2) {
      let at = reached.from(line, edits);
      while (
        at < left.length &&
        at - line < right.length &&
        left[at] === right[at - line]
      ) {
        at += 1;
      }
      reached.set(line, at);
      if (at >= left.length && at - line >= right.length) {
        return traced(reached.kept, left.length, right.length);
      }
    }
  }
  return null;
}

/** For each line along which both sides go on together: how far one comes on it. */
class Reached {
  constructor(
    private readonly most: number,
    private readonly places = new Int32Array(2 * most + 3).fill(-1)
  ) {
    if (this.get(1) < 0) {
      this.set(1, 0);
    }
  }

  /** As it was before each edit. */
  readonly kept: Reached[] = [];

  keep(): void {
    this.kept.push(new Reached(this.most, this.places.slice()));
  }

  get(line: number): number {
    return this.places[line + this.most + 1] ?? -1;
  }

  set(line: number, at: number): void {
    this.places[line + this.most + 1] = at;
  }

  /** Whether the furthest way to a line comes from the one above: by a line that is added. */
  isAdded(line: number, edits: number): boolean {
    return (
      line === -edits ||
      (line !== edits && this.get(line - 1) < this.get(line + 1))
    );
  }

  /** Where a line is entered. */
  from(line: number, edits: number): number {
    return this.isAdded(line, edits)
      ? this.get(line + 1)
      : this.get(line - 1) + 1;
  }
}

/** The way back from the end. */
function traced(kept: readonly Reached[], left: number, right: number): Step[] {
  const found: Step[] = [];
  let [at, other] = [left, right];
  [...kept.entries()].reverse().forEach(([edits, reached]) => {
    const line = at - other;
    const isAdded = reached.isAdded(line, edits);
    const from = reached.get(isAdded ? line + 1 : line - 1);
    const fromOther = from - (isAdded ? line + 1 : line - 1);
    while (at > Math.max(from, 0) && other > Math.max(fromOther, 0)) {
      found.push('same');
      at -= 1;
      other -= 1;
    }
    if (edits > 0) {
      found.push(isAdded ? 'added' : 'removed');
    }
    [at, other] = [from, fromOther];
  });
  return found.reverse();
}

function written(
  kept: readonly Step[],
  left: readonly string[],
  right: readonly string[]
): IDiffLine[] {
  let [before, after] = [0, 0];
  return kept.map(kind => {
    const isLeft = kind !== 'added';
    const isRight = kind !== 'removed';
    const text = (isLeft ? left[before] : right[after]) ?? '';
    before += Number(isLeft);
    after += Number(isRight);
    return {
      kind,
      text,
      before: isLeft ? before : null,
      after: isRight ? after : null
    };
  });
}

function linesOf(text: string): string[] {
  if (text === '') {
    return [];
  }
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}
