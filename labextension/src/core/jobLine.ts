/** Which line it is: above a cell, or of the verb that submits scripts. */
export type LineKind = 'cell' | 'submit';

/** The line in a cell that says what the job is to be. */
export interface IFoundLine {
  readonly kind: LineKind;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const OF_CELL = /^(\s*%%acai[^\S\n]+run)(?![\w-])([^\n]*)/;
const OF_SCRIPT = /^([^\S\n]*%acai[^\S\n]+submit)(?![\w-])([^\n]*)/m;

/** The line of a cell that runs as a job, or the first one that submits a script; null where there is none. */
export function jobLineIn(source: string): IFoundLine | null {
  return (
    foundLine('cell', OF_CELL.exec(source)) ??
    (/^\s*%%/.test(source) ? null : foundLine('submit', OF_SCRIPT.exec(source)))
  );
}

function foundLine(
  kind: LineKind,
  match: RegExpExecArray | null
): IFoundLine | null {
  if (match === null) {
    return null;
  }
  const [whole, head = '', text = ''] = match;
  const start = match.index + head.length;
  return { kind, text, start, end: match.index + whole.length };
}

/** The same cell with another text behind the magic's words. */
export function withLine(
  source: string,
  found: IFoundLine,
  text: string
): string {
  const behind = text === '' ? '' : ` ${text}`;
  return `${source.slice(0, found.start)}${behind}${source.slice(found.end)}`;
}
