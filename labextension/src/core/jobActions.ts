import type {
  IChanged,
  IChangeMetadata,
  IKilledJobs,
  IKillJobs
} from '../contract';
import type { ITagLine } from './tagLine';

/** So many the server takes in one request. */
const MOST_KILLED = 1000;
const MOST_CHANGED = 5000;

/** End any number of jobs. */
export async function killJobs(
  source: { kill(request: IKillJobs): Promise<IKilledJobs> },
  numbers: readonly number[]
): Promise<{ asked: number; ended: number }> {
  const told = { asked: 0, ended: 0 };
  for (const jobs of inParts(numbers, MOST_KILLED)) {
    const { asked, ended } = await source.kill({ jobs });
    told.asked += asked.length;
    told.ended += ended.length;
  }
  return told;
}

/** Make one change to any number of things, to all of a request or to none; tells how many are different now. */
export async function tagThings(
  source: { tag(request: IChangeMetadata): Promise<IChanged> },
  things: readonly string[],
  change: ITagLine['change']
): Promise<number> {
  let changed = 0;
  for (const some of inParts(things, MOST_CHANGED)) {
    const changes = some.map(thing => ({ thing, ...change }));
    changed += (await source.tag({ changes })).things.length;
  }
  return changed;
}

function inParts<T>(all: readonly T[], most: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / most) }, (_, part) =>
    all.slice(part * most, (part + 1) * most)
  );
}
