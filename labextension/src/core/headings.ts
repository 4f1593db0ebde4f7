import { oneLine } from './text';
import { trans } from './translation';

/** The keys that jobs have by themselves, in words. Those that people give have their own names everywhere. */
const WORDS = new Map<string, () => string>([
  ['number', () => trans.__('job')],
  ['name', () => trans.__('name')],
  ['state', () => trans.__('state')],
  ['created_at', () => trans.__('created')],
  ['creator', () => trans.__('creator')],
  ['ended_at', () => trans.__('ended')],
  ['input', () => trans.__('input')],
  ['output', () => trans.__('output')],
  ['memory_bytes', () => trans.__('memory')],
  ['run_seconds', () => trans.__('run')],
  ['billed_seconds', () => trans.__('billed')],
  ['cost_usd', () => trans.__('cost')],
  ['exit_code', () => trans.__('exit code')],
  ['attempts', () => trans.__('attempts')],
  ['template', () => trans.__('template')],
  ['tags', () => trans.__('tags')]
]);

/** `billed_seconds` is a time with its unit beside it, so the heading needs none. */
export function headingOf(key: string): string {
  return (
    WORDS.get(key)?.() ??
    oneLine(key.replace(/_(?:seconds|bytes|usd|at)$/, '').replaceAll('_', ' '))
  );
}
