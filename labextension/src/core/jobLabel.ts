import { oneLine } from './text';
import { trans } from './translation';

/** What to call a job that has no name, by its template, as `train.py (lr)` or `digits.ipynb#a-cell`: its program. */
export function labelByTemplate(template: string): string {
  const notebook = /^(.+)\.ipynb#/.exec(template)?.[1];
  if (notebook !== undefined) {
    return oneLine(trans.__('a cell of %1', notebook));
  }
  const program = template.replace(/ \([^()]*\)$/, '');
  return /^cell\.(?:py|sh)$/.test(program)
    ? trans.__('a cell')
    : oneLine(program);
}
