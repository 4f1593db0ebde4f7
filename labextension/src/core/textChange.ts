/** What is put in place of which part of a text. */
export interface ITextChange {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The one change that makes a text another: all that both begin and end with stays, and with it what others do there. */
export function changeBetween(before: string, after: string): ITextChange {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) {
    start += 1;
  }
  let kept = 0;
  while (
    kept < most - start &&
    before[before.length - 1 - kept] === after[after.length - 1 - kept]
  ) {
    kept += 1;
  }
  const text = after.slice(start, after.length - kept);
  return { start, end: before.length - kept, text };
}
