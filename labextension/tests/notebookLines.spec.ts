import { describe, expect, it } from 'vitest';

import type { IChild } from '../src/contract';
import {
  linesForFile,
  linesForFolder,
  linesForRow,
  linesForSet
} from '../src/core/dragged';
import { withInput } from '../src/core/runCell';

describe('an input of a cell', () => {
  it('is added to its line, whatever stands there', () => {
    expect(withInput('%%acai run\nx', 'train:3')).toBe(
      '%%acai run --input train:3\nx'
    );
    expect(withInput('%%acai run --cpu 2', 'train:3')).toBe(
      '%%acai run --cpu 2 --input train:3'
    );
    expect(withInput('x = 1', 'train:3')).toBe(
      '%%acai run --input train:3\nx = 1'
    );
  });

  it('takes the place of another version of the same set, and of nothing else', () => {
    const line = '%%acai run --input train:1 --input test:1 --output m\nx';
    expect(withInput(line, 'train:3')).toBe(
      '%%acai run --input train:3 --input test:1 --output m\nx'
    );
    expect(withInput('%%acai run --input @train\nx', 'train:3')).toBe(
      '%%acai run --input train:3\nx'
    );
    expect(withInput('%%acai run --input trainer:1\nx', 'train:3')).toBe(
      '%%acai run --input trainer:1 --input train:3\nx'
    );
    const once = withInput('%%acai run\nx', '/a.csv:1');
    expect(withInput(once, '/a.csv:1')).toBe(once);
  });

  it('is one word, whatever it is called', () => {
    expect(withInput('%%acai run\nx', "/it's here.csv:1")).toBe(
      `%%acai run --input '/it'"'"'s here.csv:1'\nx`
    );
  });
});

describe('what is dragged into a cell', () => {
  it('names the project where that does not go without saying', () => {
    expect(linesForFile('/a.csv:3', 'vision')).toContain(
      'pd.read_csv("acai://vision/a.csv:3")'
    );
    expect(linesForFolder('/img/', 'vision')).toContain(
      'find("acai://vision/img")'
    );
    expect(linesForSet('train:3', 'vision')).toContain(
      'acai_jupyter.fileset("train:3", project="vision")'
    );
  });

  it('is a file in the version of its row, and a folder as a set has it', () => {
    expect(linesForRow('/img/', null, '', 'train:3')).toContain(
      'find("acai:///img/@train:3")'
    );
  });

  it('is read by what its name ends in', () => {
    const child: IChild = { name: 'a@b.csv', kind: 'file', version: 3 };
    expect(linesForRow('/data/a@b.csv', child)).toBe(
      'import pandas as pd\npd.read_csv("acai:///data/a%40b.csv:3")'
    );
    expect(linesForFile('/x.bin:1')).toContain(
      'fsspec.open("acai:///x.bin:1")'
    );
    expect(linesForFolder('/img/')).toContain('find("acai:///img")');
    expect(linesForSet('train:3')).toContain('acai_jupyter.fileset("train:3")');
  });

  it('is no code, whatever it is called', () => {
    expect(linesForFile('/"); boom(".csv:1')).toContain(
      'pd.read_csv("acai:///\\"); boom(\\".csv:1")'
    );
  });
});
