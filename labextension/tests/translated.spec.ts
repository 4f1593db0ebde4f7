import { Linter } from 'eslint';
import { parser } from 'typescript-eslint';
import { expect, test } from 'vitest';

// @ts-expect-error -- a rule for ESLint has no types
import rules from '../translated.mjs';

const linter = new Linter();

/** What the rules say of a piece of a component. */
function saidOf(code: string): (string | null | undefined)[] {
  const found = linter.verify(
    code,
    [
      {
        files: ['**/*.tsx'],
        languageOptions: {
          parser,
          parserOptions: { ecmaFeatures: { jsx: true } }
        },
        plugins: { acai: rules as object },
        rules: { 'acai/sayable': 'error', 'acai/untranslated': 'error' }
      }
    ],
    'view.tsx'
  );
  return found.map(one => one.messageId ?? one.message);
}

test.each([
  '<p>Asking</p>;',
  '<p>{isOpen ? "close" : x}</p>;',
  '<button aria-label="kill" />;',
  '<Action words={isOpen ? "close" : other} />;',
  '<input placeholder={`find ${name}`} />;',
  'addCommand(OPEN, { label: "Open", execute });',
  'addCommand(OPEN, { label: args => (args.isMenu ? "Open" : x) });',
  'this.title.label = "Jobs";',
  'const said = `${count} running`;',
  'throw new Error("there is nothing here");'
])('what people read and nobody can translate is found: %s', code => {
  expect(saidOf(code)).toContain('untranslated');
});

test.each([
  '<p className="one two" data-state="two words" role="alert">{name} · {count}</p>;',
  '<p>{trans.__("Asking")}</p>;',
  'function f() { return trans._n("%1 job", "%1 jobs", count); }',
  'const run = "%%acai run";',
  'if (state === "not so") {}',
  'console.warn("a view could not be shown");'
])('what nobody reads is let be: %s', code => {
  expect(saidOf(code).filter(one => one === 'untranslated')).toEqual([]);
});

test('a language is asked for when something is said, not when a module is loaded', () => {
  expect(saidOf('const WORD = trans.__("job");')).toEqual(['early']);
  expect(saidOf('const WORD = () => trans.__("job");')).toEqual([]);
});

test('a sentence is written where it is said', () => {
  expect(saidOf('const f = () => trans.__(`job ${n}`);')).toContain('dynamic');
  expect(saidOf('const f = () => trans.__(words);')).toContain('dynamic');
});

test('each place of a sentence is filled, and nothing is given that has none', () => {
  expect(saidOf('const f = () => trans.__("%1 of %2", a);')).toEqual([
    'places'
  ]);
  expect(saidOf('const f = () => trans.__("%1", a, b);')).toEqual(['places']);
  expect(saidOf('const f = () => trans._n("%2 job", "%2 jobs", n);')).toEqual([
    'places'
  ]);
  expect(
    saidOf('const f = () => trans._n("%2 job", "%2 jobs", n, words);')
  ).toEqual([]);
});
