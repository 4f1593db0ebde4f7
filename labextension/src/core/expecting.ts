import type { IThingChange } from '../contract';
import type { AcaiError } from './errors';
import type { Value } from './values';

export type Change = Omit<IThingChange, 'thing'>;
export type Attributes = Readonly<Record<string, Value>>;
type Expected = NonNullable<IThingChange['expect']>;

/** A change that is made only from what somebody saw when they began: what others wrote since is not written over. */
export function expecting(change: Change, seen: Attributes): Change {
  const keys = [...Object.keys(change.set ?? {}), ...(change.delete ?? [])];
  const expect = Object.fromEntries(keys.map(key => [key, seen[key] ?? null]));
  return { ...change, expect: expect as Expected };
}

/** What is seen after an error has said what somebody else wrote. */
export function seenAfter(error: AcaiError, seen: Attributes): Attributes {
  const { key, found, type } = error.details;
  if (error.code !== 'outdated' || typeof key !== 'string') {
    return seen;
  }
  const value = type === 'time' ? { time: String(found) } : (found ?? null);
  return { ...seen, [key]: value as Value };
}
