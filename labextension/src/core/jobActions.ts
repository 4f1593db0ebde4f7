import type {
  IChanged,
  IChangeMetadata,
  IKilledJobs,
  IKillJobs
} from '../contract';
import { asAcaiError } from './connectionStore';
import type { AcaiError } from './errors';
import type { ITagLine } from './tagLine';

/** So many the server takes in one request. */
const MOST_KILLED = 1000;
const MOST_CHANGED = 5000;

/** End any number of jobs; where that fails half way, tells how many there were until then, and why. */
export async function killJobs(
  source: { kill(request: IKillJobs): Promise<IKilledJobs> },
  numbers: readonly number[]
): Promise<{ asked: number; ended: number; error: AcaiError | null }> {
  const told = { asked: 0, ended: 0 };
  const error = await each(inParts(numbers, MOST_KILLED), async jobs => {
    const { asked, ended } = await source.kill({ jobs });
    told.asked += asked.length;
    told.ended += ended.length;
  });
  return { ...told, error };
}

/**
 * Make one change to any number of things, to all of a request or to none; tells how many are different now, and why
 * the rest are not.
 */
export async function tagThings(
  source: { tag(request: IChangeMetadata): Promise<IChanged> },
  things: readonly string[],
  change: ITagLine['change']
): Promise<{ changed: number; error: AcaiError | null }> {
  let changed = 0;
  const error = await each(inParts(things, MOST_CHANGED), async some => {
    const changes = some.map(thing => ({ thing, ...change }));
    changed += (await source.tag({ changes })).things.length;
  });
  return { changed, error };
}

/** One after the other, up to the one that fails. */
async function each<T>(
  parts: readonly T[],
  act: (part: T) => Promise<void>
): Promise<AcaiError | null> {
  try {
    for (const part of parts) {
      await act(part);
    }
    return null;
  } catch (error) {
    return asAcaiError(error);
  }
}

function inParts<T>(all: readonly T[], most: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / most) }, (_, part) =>
    all.slice(part * most, (part + 1) * most)
  );
}
