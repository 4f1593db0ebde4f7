import { describe, expect, it } from 'vitest';

import { jobLineIn, type LineKind, withLine } from '../src/core/jobLine';
import { type IRunOption, optionsFor, RunLine } from '../src/core/runLine';
import { quoted, UnreadableLine, wordsOf } from '../src/core/shellWords';

function option(name: string, kind: LineKind = 'cell'): IRunOption {
  const found = optionsFor(kind).find(one => one.name === name);
  if (found === undefined) {
    throw new Error(`There is no option ${name}.`);
  }
  return found;
}

function read(text: string, kind: LineKind = 'cell'): RunLine {
  return RunLine.read(text, kind);
}

describe('The words of a line', () => {
  const split = (line: string) => wordsOf(line).map(one => one.value);

  it('are those that a shell would see', () => {
    expect(split(`a 'b c' "d \\" \\n e" f\\ g ''`)).toEqual([
      'a',
      'b c',
      'd " \\n e',
      'f g',
      ''
    ]);
    expect(split(`--tag=note='x y'z`)).toEqual(['--tag=note=x yz']);
    expect(split('  # no comment ')).toEqual(['#', 'no', 'comment']);
    expect(split('a\u00a0b c')).toEqual(['a\u00a0b', 'c']);
  });

  it('come back from their quotes, whatever is in them', () => {
    for (const word of ['', "it's", 'a b', '$HOME', '"', '\\', 'a;b', '–']) {
      expect(split(quoted(word))).toEqual([word]);
    }
  });

  it('are none where a quote is left open', () => {
    for (const line of [`a 'b`, `a "b`, 'a \\']) {
      expect(() => split(line)).toThrow(UnreadableLine);
    }
  });
});

describe('A line of options', () => {
  it('is read in all the forms in which people write it', () => {
    const line = read(
      `--input a:1 b --input=c -p lr=0.1 -pn=2 --cpu 1 --cpu=2 --cached --priority -5`
    );
    expect(line.values('input')).toEqual(['a:1', 'b', 'c']);
    expect(line.values('p')).toEqual(['lr=0.1', 'n=2']);
    expect(line.values('cpu')).toEqual(['2']);
    expect(line.values('priority')).toEqual(['-5']);
    expect(line.has('cached')).toBe(true);
    expect(line.has('memory')).toBe(false);
  });

  it('changes where something was changed, and nowhere else', () => {
    const written = `--newer "x y" --input "a:1"  b --cpu 2 stray --tag 'k=v w' -- --cpu 9`;
    const line = read(written);
    expect(line.with(option('cpu'), ['2'])).toBe(line);
    expect(line.with(option('cpu'), ['4']).text).toBe(
      `--newer "x y" --input "a:1" b --cpu 4 stray --tag 'k=v w' -- --cpu 9`
    );
    expect(line.with(option('cpu'), []).text).toBe(
      `--newer "x y" --input "a:1" b stray --tag 'k=v w' -- --cpu 9`
    );
    expect(line.with(option('output'), ['m']).text).toBe(
      `--newer "x y" --input "a:1" b --cpu 2 stray --tag 'k=v w' --output m -- --cpu 9`
    );
    expect(line.args).toEqual(['--cpu', '9']);
  });

  it('quotes what it writes, so that it is read as it was meant', () => {
    for (const value of ["it's", 'a b', '-x', '--cpu', '--', '', 'ü']) {
      const line = read('').with(option('name'), [value]);
      expect(read(line.text).values('name')).toEqual([value]);
      expect(read(line.text).has('cpu')).toBe(false);
    }
    const several = read('').with(option('input'), ['/a b.csv', '@s']);
    expect(several.text).toBe(`--input '/a b.csv' --input @s`);
    const script = read('').with(option('script'), ['train.py', 'x y']);
    expect(script.text).toBe(`--script train.py 'x y'`);
    const given = ['train.py', '3', '--name', 'x'];
    expect(read('').with(option('script'), given).text).toBe(
      '--script train.py 3 -- --name x'
    );
  });

  it('has flags that are there or not', () => {
    const line = read('--cached --cpu 2');
    expect(line.withFlag(option('cached'), true)).toBe(line);
    expect(line.withFlag(option('cached'), false).text).toBe('--cpu 2');
    expect(line.withFlag(option('shell'), true).text).toBe(
      '--cached --cpu 2 --shell'
    );
  });

  it('of a script has the script, what it is given, and no options of cells', () => {
    const line = read('train.py --input digits -- --epochs 3', 'submit');
    expect(line.scripts).toEqual(['train.py']);
    const last = read('--input digits train.py', 'submit');
    expect(last.scripts).toEqual(['train.py']);
    expect(last.with(option('input', 'submit'), ['mnist']).text).toBe(
      '--input mnist train.py'
    );
    expect(line.args).toEqual(['--epochs', '3']);
    expect(() => option('send', 'submit')).toThrow();
    expect(option('send').only).toBe('cell');
  });
});

describe('The line in a cell', () => {
  const textIn = (source: string) => jobLineIn(source)?.text.trim() ?? null;

  it('is that of the cell, or the first that submits', () => {
    expect(textIn('%%acai run --cpu 2\nx = 1')).toBe('--cpu 2');
    expect(textIn('\n %%acai  run')).toBe('');
    expect(textIn('x = 1\n  %acai submit train.py\n%acai submit b.py')).toBe(
      'train.py'
    );
    expect(textIn('%%acai runner')).toBeNull();
    expect(textIn('%%bash\n%acai submit a.py')).toBeNull();
    expect(textIn('# %acai submit a.py')).toBeNull();
  });

  it('is written anew without touching the cell below', () => {
    const source = '%%acai run --cpu 2\nx = "--cpu 2"\n';
    const found = jobLineIn(source);
    expect(found && withLine(source, found, '--cpu 4')).toBe(
      '%%acai run --cpu 4\nx = "--cpu 2"\n'
    );
    expect(found && withLine(source, found, '')).toBe(
      '%%acai run\nx = "--cpu 2"\n'
    );
  });
});
