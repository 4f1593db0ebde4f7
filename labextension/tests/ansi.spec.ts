import { describe, expect, it } from 'vitest';

import { AnsiReader, type Line } from '../src/core/ansi';

function read(...pieces: string[]): Line[] {
  const reader = new AnsiReader();
  const lines = pieces.flatMap(piece => reader.feed(piece));
  return [...lines, reader.current];
}

function texts(...pieces: string[]): string[] {
  return read(...pieces).map(line => line.map(span => span.text).join(''));
}

describe('AnsiReader', () => {
  it('leaves of a progress bar what a terminal would', () => {
    expect(texts('  0%\r 50%\r100%\ndone')).toEqual(['100%', 'done']);
    expect(texts('long line\rab\x1b[K\n')).toEqual(['ab', '']);
    expect(texts('abc\b\bX\n')).toEqual(['aXc', '']);
    expect(texts('one\r\ntwo\r\n')).toEqual(['one', 'two', '']);
  });

  it('keeps colours as names, across pieces cut anywhere', () => {
    const [line] = read('a \x1b[3', '1mred\x1b[0m b\n');
    expect(line).toEqual([
      { text: 'a ', look: '' },
      { text: 'red', look: 'ink-red' },
      { text: ' b', look: '' }
    ]);
    const [bold] = read('\x1b[1;32mok\x1b[22mless\x1b[39m\n');
    expect(bold?.map(span => span.look)).toEqual([
      'bold ink-green',
      'ink-green'
    ]);
  });

  it('keeps the other colours of palettes and mixtures as they are', () => {
    const [line] = read(
      '\x1b[38;5;1ma\x1b[38;5;208mb\x1b[38;5;244mc\x1b[38;2;1;2;3md\x1b[39;48:2::255:0:16me\x1b[48;2;1;2mf\n'
    );
    expect(line?.map(span => span.look)).toEqual([
      'ink-red',
      'ink-rgb-ff8700',
      'ink-rgb-808080',
      'ink-rgb-010203',
      'ground-rgb-ff0010',
      ''
    ]);
  });

  it('writes out what would turn the direction of a text', () => {
    expect(texts('user\u202enimda\n')[0]).toBe('user\\u202enimda');
    expect(texts('a\rb\u2066', 'c\n')[0]).toBe('b\\u2066c');
  });

  it('says how much of a line is not shown', () => {
    const cut = (line: string) => read(line)[0]?.at(-1)?.cut;
    expect(cut(`${'x'.repeat(2_500)}\n`)).toBe(500);
    expect(cut(`${'x'.repeat(2_500)}\r${'y'.repeat(2_100)}\n`)).toBe(500);
    expect(cut(`\x1b[31m${'x'.repeat(2_500)}\r\x1b[Kdone\n`)).toBeUndefined();
    expect(cut('short\n')).toBeUndefined();
  });

  it('reads whole lines as it reads those that come in pieces', () => {
    const lines = read('\x1b[31mred\nas red\n\n\x1b[0mplain\nab', 'c\nde');
    expect(lines).toEqual([
      [{ text: 'red', look: 'ink-red' }],
      [{ text: 'as red', look: 'ink-red' }],
      [],
      [{ text: 'plain', look: '' }],
      [{ text: 'abc', look: '' }],
      [{ text: 'de', look: '' }]
    ]);
    expect(texts('\x1b[3C', 'x\ny\n')).toEqual(['   x', 'y', '']);
  });

  it('lets nothing else through that a program can tell a terminal', () => {
    expect(
      texts('a\x1b]0;title\x07b\x1b[2J\x1b[10;10Hc\x1bPq\x1b\\d\n')[0]
    ).toBe('abcd');
    expect(texts('\x1b]52;c;Y2xpcA==\x1b\\x\x00\x9b\n')[0]).toBe('x');
    expect(texts('<script>alert(1)</script>\n')[0]).toBe(
      '<script>alert(1)</script>'
    );
  });

  it('cuts lines that nobody can read', () => {
    expect(texts(`${'x'.repeat(100_000)}\n`)[0]).toHaveLength(2_000);
  });
});
