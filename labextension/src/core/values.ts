import type { ITime } from '../contract';
import { formatDuration, formatMoney, formatSize } from './format';
import { oneLine } from './text';

/** A value of an attribute, a parameter or a column. */
export type Value = string | number | boolean | string[] | ITime | null;

/** A value for people, in short, as tables have it; the built-in units are known by their names. */
export function formatValue(key: string, value: Value | undefined): string {
  if (value === null || value === undefined) {
    return '';
  }
  if (Array.isArray(value)) {
    return oneLine(value.join(', '));
  }
  if (typeof value === 'object') {
    return formatTime(new Date(value.time));
  }
  return typeof value === 'number'
    ? formatQuantity(key, value)
    : oneLine(String(value));
}

/** A value with nothing left out: numbers with all their digits, times with their seconds. */
export function fullValue(key: string, value: Value | undefined): string {
  if (typeof value === 'number') {
    const words = formatQuantity(key, value);
    if (!UNITS.test(key)) {
      return String(value);
    }
    const isExact = Number(words.replace(/^\$| .+$|,/g, '')) === value;
    return isExact ? words : `${words} (${String(value)})`;
  }
  return isTime(value)
    ? formatMoment(new Date(value.time))
    : formatValue(key, value);
}

const UNITS = /_(?:bytes|seconds|usd)$/;

function isTime(value: Value | undefined): value is ITime {
  return typeof value === 'object' && value !== null && 'time' in value;
}

function formatQuantity(key: string, value: number): string {
  if (key.endsWith('_bytes')) {
    return formatSize(value);
  }
  if (key.endsWith('_seconds')) {
    return formatDuration(value);
  }
  if (key.endsWith('_usd')) {
    return formatMoney(value);
  }
  return Number.isInteger(value)
    ? String(value)
    : String(Number(value.toPrecision(6)));
}

/** `2026-11-19 14:03`, where the reader is. */
export function formatTime(moment: Date): string {
  const parts = [
    moment.getFullYear(),
    pad(moment.getMonth() + 1),
    pad(moment.getDate())
  ];
  return `${parts.join('-')} ${pad(moment.getHours())}:${pad(moment.getMinutes())}`;
}

/** `2026-11-19 14:03:07.25` */
function formatMoment(moment: Date): string {
  const seconds = moment.getSeconds() + moment.getMilliseconds() / 1000;
  const [whole = '', rest] = String(seconds).split('.');
  const tail = rest === undefined ? '' : `.${rest}`;
  return `${formatTime(moment)}:${whole.padStart(2, '0')}${tail}`;
}

function pad(number: number): string {
  return String(number).padStart(2, '0');
}
