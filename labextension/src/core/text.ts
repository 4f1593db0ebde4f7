// Control characters, ends of lines, changes of direction, and what no text can be sent with.
const UNSEEN =
  // eslint-disable-next-line no-control-regex -- these are what is looked for
  /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/gu;

/** What others wrote, fit to stand on a line: what would not be seen is written out, as `\x1b`. */
export function oneLine(text: string): string {
  return text.replace(UNSEEN, character => escapeOf(character.charCodeAt(0)));
}

function escapeOf(code: number): string {
  const named = NAMED[code];
  if (named !== undefined) {
    return named;
  }
  const digits = code.toString(16);
  return code < 256
    ? `\\x${digits.padStart(2, '0')}`
    : `\\u${digits.padStart(4, '0')}`;
}

const NAMED: { [code: number]: string } = { 9: '\\t', 10: '\\n', 13: '\\r' };
