import { trans } from './translation';

/** A word of a line, and how it stands there. */
export interface IWord {
  readonly value: string;
  readonly raw: string;
}

/** A line that a shell would not understand either. */
export class UnreadableLine extends Error {}

const BLANK = /[ \t\r\n]/;

/** The words of a line, in the way in which Python's `shlex.split` finds them. */
export function wordsOf(line: string): IWord[] {
  const found: IWord[] = [];
  let at = 0;
  while (at < line.length) {
    if (BLANK.test(line.charAt(at))) {
      at += 1;
    } else {
      const [value, end] = readWord(line, at);
      found.push({ value, raw: line.slice(at, end) });
      at = end;
    }
  }
  return found;
}

function readWord(line: string, start: number): [value: string, end: number] {
  let value = '';
  let at = start;
  while (at < line.length && !BLANK.test(line.charAt(at))) {
    const [part, end] = readPart(line, at);
    value += part;
    at = end;
  }
  return [value, at];
}

/** One character, or all between two quotes. */
function readPart(line: string, at: number): [part: string, end: number] {
  const sign = line.charAt(at);
  if (sign === "'") {
    const end = line.indexOf("'", at + 1);
    if (end < 0) {
      throw new UnreadableLine(trans.__('A quote on the line is not closed.'));
    }
    return [line.slice(at + 1, end), end + 1];
  }
  if (sign === '"') {
    return readDouble(line, at + 1);
  }
  if (sign !== '\\') {
    return [sign, at + 1];
  }
  if (at + 1 === line.length) {
    throw new UnreadableLine(trans.__('The line ends with a backslash.'));
  }
  return [line.charAt(at + 1), at + 2];
}

function readDouble(line: string, start: number): [part: string, end: number] {
  let part = '';
  for (let at = start; at < line.length; at += 1) {
    const sign = line.charAt(at);
    const next = line.charAt(at + 1);
    if (sign === '"') {
      return [part, at + 1];
    }
    if (sign === '\\' && (next === '"' || next === '\\')) {
      part += next;
      at += 1;
    } else {
      part += sign;
    }
  }
  throw new UnreadableLine(trans.__('A quote on the line is not closed.'));
}

/** A text as one word of a line. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word)
    ? word
    : `'${word.replaceAll("'", `'"'"'`)}'`;
}
