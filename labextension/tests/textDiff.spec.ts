import { describe, expect, it } from 'vitest';

import { diffLines, folded, type IDiffLine } from '../src/core/textDiff';

function sides(lines: readonly IDiffLine[]): [string[], string[]] {
  const of = (kind: string) =>
    lines
      .filter(line => line.kind === 'same' || line.kind === kind)
      .map(line => line.text);
  return [of('removed'), of('added')];
}

/** The same numbers each time. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

describe('two texts', () => {
  it('differ in the lines that only one of them has', () => {
    const lines = diffLines('a\nb\nc\n', 'a\nx\nc\n') ?? [];
    expect(lines.map(line => `${line.kind} ${line.text}`)).toEqual([
      'same a',
      'removed b',
      'added x',
      'same c'
    ]);
    expect(lines.map(line => [line.before, line.after])).toEqual([
      [1, 1],
      [2, null],
      [null, 2],
      [3, 3]
    ]);
  });

  it('are both in what is shown, whatever they are', () => {
    const next = numbers(7);
    for (let round = 0; round < 200; round += 1) {
      const text = () =>
        Array.from({ length: Math.floor(next() * 12) }, () =>
          'abc'.charAt(Math.floor(next() * 3))
        );
      const [left, right] = [text(), text()];
      const ended = (lines: string[]) => lines.map(one => `${one}\n`).join('');
      const lines = diffLines(ended(left), ended(right)) ?? [];
      expect(sides(lines)).toEqual([left, right]);
    }
  });

  it('are not shown beside each other when they have too little in common', () => {
    const many = (word: string) =>
      Array.from({ length: 2_000 }, (_, at) => `${word} ${at}\n`).join('');
    expect(diffLines(many('a'), many('b'))).toBeNull();
  });

  it('are shown where they differ, with a few lines around', () => {
    const lines = Array.from({ length: 100 }, (_, at) => `line ${at}`);
    const changed = lines.map((line, at) => (at === 50 ? 'other' : line));
    const all = diffLines(lines.join('\n'), changed.join('\n')) ?? [];
    const shown = folded(all);
    expect(shown).toHaveLength(3 + 2 + 3 + 2);
    expect(shown[0]?.text).toBe('47 lines the same');
    expect(shown.at(-1)?.text).toBe('46 lines the same');
  });
});
