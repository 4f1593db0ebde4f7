import { describe, expect, it } from 'vitest';

import { contrast, ownColours } from '../src/core/legible';

type Colour = [number, number, number];

function read(colour: string | undefined): Colour {
  const parts = /^rgb\((\d+) (\d+) (\d+)\)$/.exec(colour ?? '')?.slice(1);
  return (parts ?? expect.fail(`no colour: ${colour}`)).map(Number) as Colour;
}

function some(): string[] {
  const steps = ['00', '33', '5f', '87', 'af', 'd7', 'ff'];
  return steps.flatMap(red =>
    steps.flatMap(green => steps.map(blue => red + green + blue))
  );
}

describe('A colour of a program', () => {
  it('can be read on each theme', () => {
    for (const digits of some()) {
      const found = ownColours(`bold ink-rgb-${digits}`);
      expect(contrast(read(found?.light), [255, 255, 255])).toBeGreaterThan(
        4.5
      );
      expect(contrast(read(found?.dark), [17, 17, 17])).toBeGreaterThan(4.5);
      expect(found?.ground).toBeNull();
    }
  });

  it('stays as it is where that can be read', () => {
    expect(ownColours('ink-rgb-af0000')?.light).toBe('rgb(175 0 0)');
    expect(ownColours('ink-rgb-ffd700')?.dark).toBe('rgb(255 215 0)');
  });

  it('can be read on a ground of its own', () => {
    for (const digits of some()) {
      const look = `ink-rgb-ff8700 ground-rgb-${digits}`;
      for (const one of [look, `${look} inverse`, `ground-rgb-${digits}`]) {
        const found = ownColours(one);
        const ground = read(found?.ground ?? undefined);
        expect(contrast(read(found?.light), ground)).toBeGreaterThan(4.5);
        expect(found?.dark).toBe(found?.light);
      }
    }
  });

  it('is none where a theme has one', () => {
    expect(ownColours('bold ink-red')).toBeNull();
    expect(ownColours('inverse ground-rgb-ff8700')).toBeNull();
  });
});
