import { describe, expect, it } from 'vitest';

import { formatAgo, formatDuration, formatSize } from '../src/core/format';
import { formatValue, fullValue } from '../src/core/values';

describe('formatSize', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1023, '1023 B'],
    [1024, '1 KB'],
    [1.2 * 1024 ** 3, '1.2 GB'],
    [9.96 * 1024, '10 KB'],
    [25_260_000_000, '24 GB'],
    [1024 ** 2 - 1, '1 MB'],
    [5000 * 1024 ** 5, '5000 PB']
  ])('writes %d bytes as %s', (bytes, text) => {
    expect(formatSize(bytes)).toBe(text);
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0 s'],
    [0.42, '0.4 s'],
    [59.4, '59 s'],
    [59.6, '1 min'],
    [200, '3 min 20 s'],
    [3599.9, '1 h'],
    [7500, '2 h 5 min'],
    [273_600, '3 d 4 h']
  ])('writes %d seconds as %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });
});

describe('formatAgo', () => {
  const now = new Date('2026-11-18T12:00:00Z');

  it.each([
    [-30, 'just now'],
    [59, 'just now'],
    [125, '2 min ago'],
    [3 * 3600, '3 h ago'],
    [5 * 86400 + 1, '5 d ago']
  ])('writes %d seconds before as %s', (seconds, text) => {
    expect(formatAgo(new Date(now.getTime() - seconds * 1000), now)).toBe(text);
  });
});

describe('a value', () => {
  const time = { time: new Date(2026, 10, 19, 14, 3, 7).toISOString() };

  it.each([
    ['accuracy', 0.123456789012, '0.123457', '0.123456789012'],
    ['at', time, '2026-11-19 14:03', '2026-11-19 14:03:07'],
    ['size_bytes', 1_234_567, '1.2 MB', '1.2 MB (1234567)'],
    ['size_bytes', 8, '8 B', '8 B'],
    ['run_seconds', 200, '3 min 20 s', '3 min 20 s (200)'],
    ['cost_usd', 1234.5, '$1,234.50', '$1,234.50'],
    ['stage', 'candidate', 'candidate', 'candidate'],
    ['none', null, '', '']
  ])(
    'of %s is short in tables, and full elsewhere',
    (key, value, short, full) => {
      expect(formatValue(key, value)).toBe(short);
      expect(fullValue(key, value)).toBe(full);
    }
  );
});
