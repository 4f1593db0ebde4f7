import { describe, expect, it } from 'vitest';

import { AcaiError } from '../src/core/errors';
import { expecting, seenAfter } from '../src/core/expecting';
import { readTagLine } from '../src/core/tagLine';

const AT = { time: '2026-11-01T12:00:00Z' };

function outdated(details: AcaiError['details']): AcaiError {
  return new AcaiError('outdated', 'ana set it', 409, details);
}

describe('expecting', () => {
  it('names what each key that is changed had, and nothing else', () => {
    const { change } = readTagLine('stage=final n= fresh=1 +good -old');
    const seen = { stage: 'draft', n: 3, other: true };
    expect(expecting(change, seen).expect).toEqual({
      stage: 'draft',
      n: 3,
      fresh: null
    });
    expect(expecting({ add_labels: ['a'] }, seen).expect).toEqual({});
  });

  it('keeps times and booleans as they are', () => {
    const seen = { at: AT, ready: false };
    expect(expecting({ delete: ['at', 'ready'] }, seen).expect).toEqual(seen);
  });
});

describe('what is seen after somebody else wrote', () => {
  const seen = { stage: 'draft', n: 3 };

  it('is what they wrote', () => {
    const told = outdated({ key: 'stage', found: 'final', by: 'ana' });
    expect(seenAfter(told, seen)).toEqual({ stage: 'final', n: 3 });
    const time = outdated({ key: 'n', found: AT.time, type: 'time' });
    expect(seenAfter(time, seen)).toEqual({ stage: 'draft', n: AT });
  });

  it('is nothing where they took it away', () => {
    const told = outdated({ key: 'stage', by: 'ana' });
    expect(expecting({ set: { stage: 'x' } }, seenAfter(told, seen))).toEqual({
      set: { stage: 'x' },
      expect: { stage: null }
    });
  });

  it('is as before after any other error', () => {
    const told = new AcaiError('not_allowed', 'no', 403, { key: 'stage' });
    expect(seenAfter(told, seen)).toBe(seen);
  });
});
