import type { IJob } from '../contract';
import { hasEnded } from './jobText';

/** Picks the colour of a job's mark; what stands beside it says the same in words. */
export type Tone = 'good' | 'bad' | 'busy' | 'waiting';

export function toneOf(job: IJob): Tone {
  if (job.state === 'finished') {
    return 'good';
  }
  if (hasEnded(job)) {
    return 'bad';
  }
  return job.state === 'queued' ? 'waiting' : 'busy';
}
