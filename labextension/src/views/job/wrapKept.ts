const KEY = 'acai-jupyter:log-wraps';

/** Whether long lines of logs go on below; they do unless somebody has said otherwise in this browser. */
export function wrapsKept(): boolean {
  try {
    return window.localStorage.getItem(KEY) !== 'no';
  } catch {
    // Some browsers are told to keep nothing.
    return true;
  }
}

export function keepWraps(wraps: boolean): void {
  try {
    window.localStorage.setItem(KEY, wraps ? 'yes' : 'no');
  } catch {
    // It holds as long as the view is there.
  }
}
