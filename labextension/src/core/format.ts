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
    return `${formatNumber(seconds)} s`;
  }
  const whole = Math.round(seconds);
  if (whole < 3600) {
    return pair(whole, 60, 'min', 1, 's');
  }
  if (whole < 86400) {
    return pair(whole, 3600, 'h', 60, 'min');
  }
  return pair(whole, 86400, 'd', 3600, 'h');
}

/** `just now`, `2 min ago`, `3 h ago`, `5 d ago`. */
export function formatAgo(then: Date, now: Date): string {
  const seconds = (now.getTime() - then.getTime()) / 1000;
  if (seconds < 60) {
    return 'just now';
  }
  if (seconds < 3600) {
    return `${Math.floor(seconds / 60)} min ago`;
  }
  if (seconds < 86400) {
    return `${Math.floor(seconds / 3600)} h ago`;
  }
  return `${Math.floor(seconds / 86400)} d ago`;
}

/** One decimal below ten, none above, and no `.0`. */
function formatNumber(value: number): string {
  return String(value < 9.95 ? Math.round(value * 10) / 10 : Math.round(value));
}

function pair(
  seconds: number,
  large: number,
  largeUnit: string,
  small: number,
  smallUnit: string
): string {
  const first = Math.floor(seconds / large);
  const second = Math.floor((seconds % large) / small);
  const head = `${first} ${largeUnit}`;
  return second === 0 ? head : `${head} ${second} ${smallUnit}`;
}

const LEAST_USD = 0.00001;

/** `$0.03`, for a small sum `$0.00003`; of less nobody counts the digits. */
export function formatMoney(usd: number): string {
  if (usd === 0 || usd >= 0.01) {
    return `$${usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  }
  return usd >= LEAST_USD
    ? `$${usd.toFixed(5)}`
    : `under $${LEAST_USD.toFixed(5)}`;
}
