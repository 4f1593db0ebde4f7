import { describe, expect, it } from 'vitest';

import type { ICreateJob } from '../src/contract';
import { changedRequest, draftOf } from '../src/core/changedRun';

const REQUEST: ICreateJob = {
  command: ['python', 'train.py'],
  code: 'train-code:3',
  name: 'train',
  inputs: ['digits', 'labels:2'],
  output: 'model',
  parameters: { lr: 0.1, deep: true, note: 'as it was' },
  resources: { vcpu: 2, memory_bytes: 1024 ** 3 },
  time_limit_seconds: 90,
  retries: 0
};

describe('a job that is run again with changes', () => {
  it('is the same while nobody has typed anything', () => {
    expect(changedRequest(REQUEST, draftOf(REQUEST))).toEqual(REQUEST);
    const plain: ICreateJob = { command: 'true', memory_as_used: true };
    expect(draftOf(plain)).toMatchObject({
      memory: '',
      cpu: '',
      timeLimit: ''
    });
    expect(changedRequest(plain, draftOf(plain))).toMatchObject(plain);
  });

  it('has what was typed, and all else as it was', () => {
    const draft = {
      ...draftOf(REQUEST),
      inputs: ' digits:4 \n\nlabels:2\n',
      parameters: 'lr=0.01\ndeep=true\n',
      cpu: '0.5',
      memory: '512Mi',
      timeLimit: ''
    };
    expect(changedRequest(REQUEST, draft)).toEqual({
      ...REQUEST,
      inputs: ['digits:4', 'labels:2'],
      parameters: { lr: 0.01, deep: true },
      resources: { vcpu: 0.5, memory_bytes: 512 * 1024 ** 2 },
      memory_as_used: false,
      time_limit_seconds: null
    });
  });

  it('is refused by the field that nobody can read', () => {
    const draft = draftOf(REQUEST);
    for (const [field, value] of [
      ['cpu', 'many'],
      ['memory', 'much'],
      ['parameters', 'lr'],
      ['timeLimit', 'soon']
    ]) {
      expect(() =>
        changedRequest(REQUEST, { ...draft, [field ?? '']: value })
      ).toThrow(expect.objectContaining({ field }));
    }
  });
});
