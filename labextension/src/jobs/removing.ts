import { asAcaiError } from '../core/connectionStore';
import type { ProjectClient } from '../core/projectClient';

/** Delete jobs one after the other, or bring them back; what the server refuses stays, and it is said why. */
export async function removeJobs(
  client: ProjectClient,
  numbers: readonly number[],
  undo: boolean
): Promise<{ done: number[]; kept: string[] }> {
  const done: number[] = [];
  const kept = new Set<string>();
  for (const number of numbers) {
    try {
      await client.remove(number, undo);
      done.push(number);
    } catch (error) {
      kept.add(asAcaiError(error).message);
    }
  }
  return { done, kept: [...kept].slice(0, 3) };
}
