import { oneLine } from './text';

/** A stretch of a line in one look; `look` names what is switched on: `bold ink-red`, `ink-rgb-ff8700`. */
export interface ISpan {
  text: string;
  look: string;
  /** So many characters stand here that are not shown. */
  cut?: number;
}

export type Line = ISpan[];

const WIDEST = 2_000;
const COLOURS = [
  'black',
  'red',
  'green',
  'yellow',
  'blue',
  'magenta',
  'cyan',
  'white'
];
const ON: { [code: number]: [string, string] } = {
  1: ['weight', 'bold'],
  2: ['weight', 'faint'],
  3: ['slant', 'italic'],
  4: ['under', 'under'],
  7: ['inverse', 'inverse'],
  9: ['struck', 'struck']
};
const OFF: { [code: number]: string } = {
  22: 'weight',
  23: 'slant',
  24: 'under',
  27: 'inverse',
  29: 'struck',
  39: 'ink',
  49: 'ground'
};
/** What moves, and what would turn the direction of a text: that is written out. */
const CONTROL =
  // eslint-disable-next-line no-control-regex -- as below
  /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
/** A mixture with a colour space in it. */
const MIXTURE = /([34]8):2:\d*:(\d+):(\d+):(\d+)/g;
const TOKEN =
  // eslint-disable-next-line no-control-regex -- these are what programs send to terminals
  /\x1b\[([0-9;:?<=>]*)[ -/]*([@-~])|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b\n]*(?:\x1b\\)?|\x1b[ -/]*[0-~]?|[\r\b\t]|[\x00-\x08\x0b-\x1f\x7f-\x9f]|[^\x00-\x1f\x7f-\x9f]+/g;

type Kind = 'ink' | 'ground';

/** The colours behind the sixteen named ones: a cube, and greys. */
function inPalette(number: number): number[] {
  if (number >= 232) {
    const grey = 8 + 10 * (number - 232);
    return [grey, grey, grey];
  }
  const at = number - 16;
  return [Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map(step =>
    step === 0 ? 0 : 55 + 40 * step
  );
}

/** Turns a log into lines as a terminal leaves them: what was written over is gone, and nothing but text and looks stays. */
export class AnsiReader {
  /** The lines that have ended in this piece. The last one, which goes on, is in `current`. */
  feed(text: string): Line[] {
    const lines: Line[] = [];
    const [first = '', ...others] = (this.held + text).split('\n');
    this.held = '';
    this.write(first, others.length === 0);
    const last = others.length - 1;
    others.forEach((part, index) => {
      lines.push(this.current);
      this.cells = [];
      this.at = this.past = this.lost = 0;
      this.plain = null;
      this.write(part, index === last);
    });
    return lines;
  }

  get current(): Line {
    if (this.plain !== null) {
      return this.plain === '' ? [] : [{ text: this.plain, look: this.look }];
    }
    const line: Line = [];
    for (const { text, look } of this.cells) {
      const last = line.at(-1);
      if (last?.look === look) {
        last.text += text;
      } else {
        line.push({ text, look });
      }
    }
    return cutLine(line, 0, this.lost);
  }

  private write(text: string, mayGoOn: boolean): void {
    if (!mayGoOn && this.isFresh && isPlain(text)) {
      this.plain = text;
      return;
    }
    const body = mayGoOn ? this.hold(text) : text;
    for (const match of body.matchAll(TOKEN)) {
      const [token, codes, what] = match;
      if (what !== undefined) {
        this.obey(codes ?? '', what);
      } else if (token === '\r') {
        this.at = this.past = 0;
      } else if (token === '\b') {
        this.at = Math.max(0, this.at - 1);
      } else if (token === '\t') {
        this.put('    ');
      } else if (token >= ' ' && !/^[\x7f-\x9f]/.test(token)) {
        this.put(oneLine(token));
      }
    }
  }

  private get isFresh(): boolean {
    return this.cells.length === 0 && this.at === 0;
  }

  /** A sequence may be cut by the end of a piece: its beginning waits for the next one. */
  private hold(text: string): string {
    const begun = text.lastIndexOf('\x1b');
    const rest = begun < 0 ? '' : text.slice(begun);
    // eslint-disable-next-line no-control-regex -- as above
    if (begun < 0 || !/^\x1b(\[[0-9;:?<=>]{0,64}[ -/]{0,4})?$/.test(rest)) {
      return text;
    }
    this.held = rest;
    return text.slice(0, begun);
  }

  private put(text: string): void {
    let left = text.length;
    for (const character of text) {
      if (this.at >= WIDEST) {
        this.past += left;
        this.lost = Math.max(this.lost, this.past);
        return;
      }
      left -= character.length;
      while (this.cells.length < this.at) {
        this.cells.push({ text: ' ', look: '' });
      }
      this.cells[this.at] = { text: character, look: this.look };
      this.at += 1;
    }
  }

  private obey(codes: string, what: string): void {
    if (/^[<=>?]/.test(codes)) {
      return;
    }
    const number = Number(codes) || 0;
    if (what === 'm') {
      const plain = codes.replace(MIXTURE, '$1;2;$2;$3;$4');
      this.change(plain.split(/[;:]/).map(Number));
    } else if (what === 'K') {
      this.erase(number);
    } else if (what === 'C') {
      this.at = Math.min(this.at + Math.max(1, number), 400);
    } else if (what === 'D') {
      this.at = Math.max(0, this.at - Math.max(1, number));
    } else if (what === 'G') {
      this.at = Math.min(Math.max(0, number - 1), 400);
    }
  }

  private erase(which: number): void {
    if (which === 0) {
      this.cells.length = Math.min(this.cells.length, this.at);
    } else if (which === 2) {
      this.cells = [];
    }
    if (which === 0 || which === 2) {
      this.past = this.lost = 0;
    }
  }

  private change(codes: number[]): void {
    for (let index = 0; index < codes.length; index += 1) {
      const code = codes[index] ?? 0;
      if (code === 38 || code === 48) {
        const kind = code === 38 ? 'ink' : 'ground';
        // A palette takes one more code, a mixture three.
        if (codes[index + 1] === 5) {
          this.colour(kind, codes[index + 2] ?? 0);
          index += 2;
        } else {
          this.mix(kind, codes.slice(index + 2, index + 5));
          index += 4;
        }
      } else {
        this.changeOne(code);
      }
    }
    this.look = [...this.pen.values()].join(' ');
  }

  private changeOne(code: number): void {
    const on = ON[code];
    const off = OFF[code];
    if (code === 0) {
      this.pen.clear();
    } else if (on !== undefined) {
      this.pen.set(...on);
    } else if (off !== undefined) {
      this.pen.delete(off);
    } else if ((code >= 30 && code < 38) || (code >= 90 && code < 98)) {
      this.colour('ink', code % 10);
    } else if ((code >= 40 && code < 48) || (code >= 100 && code < 108)) {
      this.colour('ground', code % 10);
    }
  }

  /** Of a palette. Only the eight plain colours, bright or not, follow the theme. */
  private colour(kind: Kind, number: number): void {
    const name = number < 16 ? COLOURS[number % 8] : undefined;
    if (name === undefined) {
      this.mix(kind, inPalette(number));
    } else {
      this.pen.set(kind, `${kind}-${name}`);
    }
  }

  private mix(kind: Kind, parts: readonly number[]): void {
    const isColour =
      parts.length === 3 && parts.every(part => part >= 0 && part < 256);
    if (isColour) {
      const digits = parts.map(part => part.toString(16).padStart(2, '0'));
      this.pen.set(kind, `${kind}-rgb-${digits.join('')}`);
    } else {
      this.pen.delete(kind);
    }
  }

  private cells: ISpan[] = [];
  /** A whole line in one look, where it is one. */
  private plain: string | null = null;
  private at = 0;
  /** How far behind the widest line the pen is, and how far it was. */
  private past = 0;
  private lost = 0;
  private held = '';
  private look = '';
  private readonly pen = new Map<string, string>();
}

/** A line of which so many characters before it and behind it are not shown. */
export function cutLine(line: Line, before: number, more: number): Line {
  const shown = line.filter(span => span.cut === undefined);
  const lost = more + (line.at(-1)?.cut ?? 0);
  const marked = (cut: number): Line =>
    cut > 0 ? [{ text: '', look: '', cut }] : [];
  return [...marked(before), ...shown, ...marked(lost)];
}

/** Nothing moves in most lines, so they need not be taken apart. */
function isPlain(text: string): boolean {
  return text.length <= WIDEST && !CONTROL.test(text);
}
