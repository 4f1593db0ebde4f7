/** What is read from a notebook can be anything. */
export interface IUnknown {
  readonly [key: string]: unknown;
}

export function isObject(value: unknown): value is IUnknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether it is a list of which each element is right. */
export function isListOf(
  value: unknown,
  isRight: (element: unknown) => boolean
): boolean {
  return Array.isArray(value) && value.every(isRight);
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

/** Whether it is not there, or right. */
export function isMissingOr(
  value: unknown,
  isRight: (value: unknown) => boolean
): boolean {
  return value === undefined || value === null || isRight(value);
}
