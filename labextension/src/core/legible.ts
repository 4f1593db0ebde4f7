type Colour = readonly [red: number, green: number, blue: number];

/** How a stretch of a log is coloured that has colours of its own, on a light ground and on a dark one. */
export interface IOwnColours {
  ground: string | null;
  light: string;
  dark: string;
}

/** As WCAG asks of text. */
const ENOUGH = 4.5;
const BLACK: Colour = [0, 0, 0];
const WHITE: Colour = [255, 255, 255];
/** What logs are shown on, in the theme whose ground is lightest and in that whose ground is least dark. */
const LIGHT_GROUND = WHITE;
const DARK_GROUND: Colour = [0x21, 0x21, 0x21];
/** So much nearer to black or white is one try. */
const STEP = 0.1;

/** The colours that a look names as mixtures, so that they can be read; null where it names none. */
export function ownColours(look: string): IOwnColours | null {
  const isInverse = look.split(' ').includes('inverse');
  const [ink, ground] = [named(look, 'ink'), named(look, 'ground')];
  const [over, below] = isInverse ? [ground, ink] : [ink, ground];
  if (below !== null) {
    const isLegible = over !== null && contrast(over, below) >= ENOUGH;
    const chosen = css(isLegible ? over : againstIt(below));
    return { ground: css(below), light: chosen, dark: chosen };
  }
  return over === null || isInverse
    ? null
    : {
        ground: null,
        light: css(towards(over, BLACK, LIGHT_GROUND)),
        dark: css(towards(over, WHITE, DARK_GROUND))
      };
}

/** From 1, which nobody can read, to 21. */
export function contrast(one: Colour, other: Colour): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05);
}

function named(look: string, kind: string): Colour | null {
  const digits = new RegExp(`\\b${kind}-rgb-([0-9a-f]{6})`).exec(look)?.[1];
  return digits === undefined ? null : colourOf(digits);
}

/** Of six digits. */
export function colourOf(digits: string): Colour {
  const part = (at: number) => parseInt(digits.slice(at, at + 2), 16);
  return [part(0), part(2), part(4)];
}

function css(colour: Colour): string {
  return `rgb(${colour.join(' ')})`;
}

function againstIt(ground: Colour): Colour {
  return contrast(BLACK, ground) >= contrast(WHITE, ground) ? BLACK : WHITE;
}

/** A colour, or the nearest on the way to an end that can be read. */
function towards(colour: Colour, end: Colour, ground: Colour): Colour {
  let mixed = colour;
  for (let share = STEP; contrast(mixed, ground) < ENOUGH; share += STEP) {
    mixed = mix(colour, end, Math.min(1, share));
  }
  return mixed;
}

function mix(colour: Colour, end: Colour, share: number): Colour {
  const part = (at: 0 | 1 | 2) =>
    Math.round(colour[at] + share * (end[at] - colour[at]));
  return [part(0), part(1), part(2)];
}

function luminance(colour: Colour): number {
  const [red, green, blue] = colour.map(part => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
