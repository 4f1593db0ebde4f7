import { oneLine } from './text';
import { trans } from './translation';

/** What to call a job that has no name: by what it is like, as `train.py (lr)`, its program. */
export function labelByTemplate(template: string): string {
  const program = template.replace(/ \([^()]*\)$/, '');
  return /^cell\.(?:py|sh)$/.test(program)
    ? trans.__('a cell')
    : oneLine(program);
}
