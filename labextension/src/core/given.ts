/** Whether there is a value: what JSON leaves out or has as null is none. */
export function isGiven<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}
