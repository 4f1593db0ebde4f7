import { afterEach, expect, test } from 'vitest';

import { formatDuration } from '../src/core/format';
import { headingOf } from '../src/core/headings';
import { jobForms } from '../src/core/plainForms';
import { describeJob } from '../src/core/jobText';
import {
  ENGLISH,
  type ITranslation,
  trans,
  translateBy
} from '../src/core/translation';
import { makeJob } from './jobs';

/** As a language pack would: each sentence in brackets, with its places filled. */
const BRACKETS: ITranslation = {
  __: (...given) => `[${ENGLISH.__(...given)}]`,
  _n: (...given) => `[${ENGLISH._n(...given)}]`
};

afterEach(() => {
  translateBy(ENGLISH);
});

test('without a language sentences are as they were written, with what stands in their places', () => {
  expect(trans.__('%2 of %1, %1', 'a', 3)).toBe('3 of a, a');
  expect(trans.__('100 %% of %1', '%2')).toBe('100 % of %2');
});

test('a number chooses between one and many, and stands in the first place', () => {
  expect(trans._n('%1 job', '%1 jobs', 1)).toBe('1 job');
  expect(trans._n('%1 job', '%1 jobs', 0)).toBe('0 jobs');
  expect(trans._n('%2 job of %3', '%2 jobs of %3', 1200, '1,200', 'ada')).toBe(
    '1,200 jobs of ada'
  );
});

test('what is said after a language was chosen is in it, whenever its module was loaded', () => {
  translateBy(BRACKETS);
  expect(formatDuration(200)).toBe('[3 min 20 s]');
  expect(headingOf('billed_seconds')).toBe('[billed]');
});

test('names that people gave stay as they are', () => {
  translateBy(BRACKETS);
  expect(headingOf('test_accuracy')).toBe('test accuracy');
  expect(headingOf('constructor')).toBe('constructor');
});

test('what is written into a notebook is in English, whoever looks at it', () => {
  const now = new Date();
  const one = makeJob({ state: 'queued' });
  const english = describeJob(one, now);
  translateBy(BRACKETS);
  expect(describeJob(one, now)).not.toBe(english);
  const { text, html } = jobForms({
    project: 'default',
    number: one.number,
    created_at: one.created_at,
    job: one
  });
  expect(text).not.toContain('[');
  expect(html).not.toContain('[');
});
