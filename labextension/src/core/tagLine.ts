import type { IThingChange } from '../contract';
import { trans } from './translation';

type Given = string | number | boolean | { time: string };

/** What a line like `stage=candidate accuracy=0.98 +reviewed -old note=` is to change, as `acai tag` takes it. */
export interface ITagLine {
  change: Omit<IThingChange, 'thing'>;
  /** What is wrong with it; empty when nothing is. */
  fault: string;
}

const WORD = /(?:[^\s"']|"[^"]*"|'[^']*')+/g;
const KEY = /^[A-Za-z_][\w.-]{0,127}$/;
const LONGEST_LABEL = 128;
const TIME =
  /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

export function readTagLine(line: string): ITagLine {
  const set: { [key: string]: Given } = {};
  const deleted: string[] = [];
  const added: string[] = [];
  const removed: string[] = [];
  let fault = '';
  for (const [word] of line.matchAll(WORD)) {
    const equals = word.indexOf('=');
    const key = word.slice(0, equals);
    if (word.length > 1 && word.startsWith('+')) {
      added.push(bare(word.slice(1)));
    } else if (word.length > 1 && word.startsWith('-')) {
      removed.push(bare(word.slice(1)));
    } else if (equals < 0 || !KEY.test(key)) {
      fault ||= trans.__(
        "'%1' is none of KEY=VALUE, KEY=, +LABEL and -LABEL.",
        word
      );
    } else if (equals === word.length - 1) {
      deleted.push(key);
    } else {
      set[key] = valueOf(word.slice(equals + 1));
    }
  }
  const change = {
    set,
    delete: deleted,
    add_labels: added,
    remove_labels: removed
  };
  const isEmpty = Object.values(change).every(
    part => Object.keys(part).length === 0
  );
  const long = [...added, ...removed].find(one => one.length > LONGEST_LABEL);
  if (long !== undefined) {
    fault ||= trans.__(
      'A label has at most %1 characters; this one has %2.',
      LONGEST_LABEL,
      long.length
    );
  }
  return {
    change,
    fault:
      fault === '' && isEmpty ? trans.__('There is nothing to change.') : fault
  };
}

/** A text in quotes stays a text. */
function valueOf(text: string): Given {
  if (/^["']/.test(text)) {
    return bare(text);
  }
  if (text === 'true' || text === 'false') {
    return text === 'true';
  }
  if (TIME.test(text)) {
    const moment = new Date(text.length === 10 ? `${text}T00:00` : text);
    return Number.isNaN(moment.getTime())
      ? text
      : { time: moment.toISOString() };
  }
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)
    ? Number(text)
    : text;
}

function bare(text: string): string {
  return text.replace(/^"([^"]*)"$|^'([^']*)'$/, '$1$2');
}
