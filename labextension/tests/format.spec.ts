import { describe, expect, it } from 'vitest';

import { formatAgo, formatDuration, formatSize } from '../src/core/format';

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
