import type { ITime } from '../contract';
import { formatDuration, formatMoney, formatSize } from './format';
import { oneLine } from './text';

/** A value of an attribute, a parameter or a column. */
export type Value = string | number | boolean | string[] | ITime | null;

/** A value for people; the built-in units are known by their names. */
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

function pad(number: number): string {
  return String(number).padStart(2, '0');
}
