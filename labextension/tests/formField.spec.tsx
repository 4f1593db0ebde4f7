import * as React from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { afterEach, expect, test } from 'vitest';

import { Field } from '../src/cells/formField';
import { JobForm } from '../src/core/jobForm';
import { RUN_OPTIONS } from '../src/core/runOptions';
import { ENGLISH, translateBy } from '../src/core/translation';

function render(name: string): string {
  const nobody = () => expect.fail('nobody asks');
  const form = new JobForm(
    {
      limits: nobody,
      plan: nobody,
      provision: nobody,
      find: nobody,
      count: nobody
    },
    { notebook: 'a.ipynb', cell: 'one' },
    nobody
  );
  const option = RUN_OPTIONS.find(one => one.name === name);
  return option === undefined
    ? expect.fail(`there is no ${name}`)
    : renderToStaticMarkup(<Field form={form} option={option} />);
}

afterEach(() => {
  translateBy(ENGLISH);
});

test('an option that a line repeats has a line each in the form', () => {
  expect(render('p')).toContain('>a parameter; one on each line<');
});

test('what an option is for is found in another language by what the template has', () => {
  translateBy({
    ...ENGLISH,
    __: (sentence, ...values) =>
      sentence === 'a parameter' ? 'parametro' : ENGLISH.__(sentence, ...values)
  });
  expect(render('p')).toContain('>parametro; one on each line<');
});
