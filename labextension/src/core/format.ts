import { trans } from './translation';

const SIZE_UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];

/** `1.2 GB`: in steps of 1,024, as JupyterLab's file browser counts. */
export function formatSize(bytes: number): string {
  let size = bytes;
  let unit = 0;
  // 1,023.6 would be written as 1024 of the smaller unit.
  while (Math.round(size) >= 1024 && unit < SIZE_UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${formatNumber(size)} ${SIZE_UNITS[unit] ?? ''}`;
}

/** `0.4 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`: never more than two units. */
export function formatDuration(seconds: number): string {
  if (seconds < 59.5) {
    return trans.__('%1 s', formatNumber(seconds));
  }
  const whole = Math.round(seconds);
  if (whole < 3600) {
    const [minutes, rest] = pair(whole, 60, 1);
    return rest === 0
      ? trans.__('%1 min', minutes)
      : trans.__('%1 min %2 s', minutes, rest);
  }
  if (whole < 86400) {
    const [hours, rest] = pair(whole, 3600, 60);
    return rest === 0
      ? trans.__('%1 h', hours)
      : trans.__('%1 h %2 min', hours, rest);
  }
  const [days, rest] = pair(whole, 86400, 3600);
  return rest === 0
    ? trans.__('%1 d', days)
    : trans.__('%1 d %2 h', days, rest);
}

/** `just now`, `2 min ago`, `3 h ago`, `5 d ago`. */
export function formatAgo(then: Date, now: Date): string {
  const seconds = (now.getTime() - then.getTime()) / 1000;
  if (seconds < 60) {
    return trans.__('just now');
  }
  if (seconds < 3600) {
    return trans.__('%1 min ago', Math.floor(seconds / 60));
  }
  if (seconds < 86400) {
    return trans.__('%1 h ago', Math.floor(seconds / 3600));
  }
  return trans.__('%1 d ago', Math.floor(seconds / 86400));
}

/** One decimal below ten, none above, and no `.0`. */
function formatNumber(value: number): string {
  return String(value < 9.95 ? Math.round(value * 10) / 10 : Math.round(value));
}

function pair(seconds: number, large: number, small: number): [number, number] {
  return [Math.floor(seconds / large), Math.floor((seconds % large) / small)];
}

const LEAST_USD = 0.00001;

/** `$0.03`, for a small sum `$0.00003`; of less nobody counts the digits. */
export function formatMoney(usd: number): string {
  if (usd === 0 || usd >= 0.01) {
    return `$${usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  }
  return usd >= LEAST_USD
    ? `$${usd.toFixed(5)}`
    : trans.__('under %1', `$${LEAST_USD.toFixed(5)}`);
}
