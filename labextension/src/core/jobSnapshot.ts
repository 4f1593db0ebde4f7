import type { IJobSnapshot } from './jobModel';
import { isListOf, isMissingOr, isNumber, isObject, isText } from './shapes';

/** A notebook can have been written by anybody, also by a later version: what is no snapshot is refused, and its text stays. */
export function readSnapshot(data: unknown): IJobSnapshot {
  const isOne =
    isObject(data) &&
    isNumber(data.number) &&
    isText(data.project) &&
    isText(data.created_at) &&
    isMissingOr(data.notes, notes => isListOf(notes, isText)) &&
    isJob(data.job);
  if (!isOne) {
    throw new TypeError('This is no job.');
  }
  return data as unknown as IJobSnapshot;
}

function isJob(job: unknown): boolean {
  return (
    isObject(job) &&
    isNumber(job.number) &&
    [job.state, job.reason, job.created_at].every(isText) &&
    (isText(job.command) || isListOf(job.command, isText)) &&
    isListOf(job.inputs, isText) &&
    isObject(job.parameters) &&
    isObject(job.resources) &&
    isListOf(job.attempts, isAttempt) &&
    isMissingOr(job.attributes, isObject) &&
    isMissingOr(job.tags, tags => isListOf(tags, isText)) &&
    [job.output, job.partial].every(ref => isMissingOr(ref, isText)) &&
    isMissingOr(job.waiting, isObject)
  );
}

function isAttempt(attempt: unknown): boolean {
  return (
    isObject(attempt) &&
    [attempt.number, attempt.vcpu, attempt.memory_bytes].every(isNumber) &&
    isListOf(
      attempt.transitions,
      step => isObject(step) && isText(step.state) && isText(step.at)
    ) &&
    isMissingOr(attempt.usage, isUsage)
  );
}

function isUsage(usage: unknown): boolean {
  return (
    isObject(usage) &&
    isMissingOr(usage.samples, samples => isListOf(samples, Array.isArray))
  );
}

/** Whether two snapshots are of one job, however it stood. */
export function isSame(one: IJobSnapshot, other: IJobSnapshot): boolean {
  return (
    one.project === other.project &&
    one.number === other.number &&
    one.created_at === other.created_at
  );
}
