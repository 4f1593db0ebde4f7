import { asAcaiError } from '../core/connectionStore';
import type { AcaiError } from '../core/errors';

/** What it takes to delete jobs and bring them back. */
export interface IJobRemoval {
  remove(number: number, undo: boolean): Promise<unknown>;
}

/** So many reasons are told. */
const MOST_REASONS = 3;

/**
 * Delete jobs one after the other, or bring them back. What the server refuses stays, and it is said why; when it answers nobody
 * any more it ends.
 */
export async function removeJobs(
  source: IJobRemoval,
  numbers: readonly number[],
  undo: boolean,
  onStep: (done: number) => void,
  signal?: AbortSignal
): Promise<{ done: number[]; kept: string[] }> {
  const done: number[] = [];
  const kept = new Set<string>();
  for (const number of numbers) {
    if (signal?.aborted === true) {
      break;
    }
    try {
      await source.remove(number, undo);
      done.push(number);
      onStep(done.length);
    } catch (error) {
      const told = asAcaiError(error);
      kept.add(told.message);
      if (isOfAll(told)) {
        break;
      }
    }
  }
  return { done, kept: [...kept].slice(0, MOST_REASONS) };
}

/** Whether any other request would end in the same way: nothing answers, or not to this person. */
function isOfAll({ status }: AcaiError): boolean {
  return status === 0 || status === 401 || status === 429 || status >= 500;
}
