import type { IJob, IJobState } from '../contract';
import { hasEndedIn } from './jobText';

/** Picks the colour of a job's mark; what stands beside it says the same in words. */
export type Tone = 'good' | 'bad' | 'busy' | 'waiting';

export function toneOf(job: IJob): Tone {
  return toneOfState(job.state);
}

/** Of many jobs: while some are busy they are; once all have ended, one that failed is told. */
export function toneOfMany(states: readonly IJobState[]): Tone {
  const tones = states.map(toneOfState);
  const order: readonly Tone[] = ['busy', 'waiting', 'bad'];
  return order.find(tone => tones.includes(tone)) ?? 'good';
}

function toneOfState(state: IJobState): Tone {
  if (state === 'finished') {
    return 'good';
  }
  if (hasEndedIn(state)) {
    return 'bad';
  }
  return state === 'queued' ? 'waiting' : 'busy';
}
