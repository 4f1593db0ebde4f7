import type { LineKind } from './jobLine';
import { RUN_OPTIONS } from './runOptions';
import { type IWord, quoted, wordsOf } from './shellWords';

/** What a line can say of a job. */
export interface IRunOption {
  readonly name: string;
  readonly flag: string;
  /** What belongs together. */
  readonly group: string;
  readonly metavar: string;
  readonly help: string;
  /** How many words follow it each time. */
  readonly words: 'none' | 'one' | 'many';
  /** Whether what is said again counts as well. */
  readonly repeats: boolean;
  readonly default: string;
  readonly kind: OptionKind;
  readonly low: number | null;
  readonly high: number | null;
  /** The only line on which it may stand; empty for both. */
  readonly only: LineKind | '';
}

export type OptionKind =
  | 'amount'
  | 'confidence'
  | 'parameter'
  | 'secret'
  | 'size'
  | 'sweep'
  | 'text'
  | 'time'
  | 'variable'
  | 'whole';

/** Words that belong together, and how they stand on the line; `option` is null for what is none that is known. */
interface ISegment {
  readonly option: string | null;
  readonly values: readonly string[];
  readonly raw: string;
}

const REST = '--';
/** What no file set is called: it is the script, where it follows the inputs. */
const SCRIPT = /^[^/@].*\.(?:py|ipynb)$/;

/** What may stand on such a line. */
export function optionsFor(kind: LineKind): IRunOption[] {
  return RUN_OPTIONS.filter(one => one.only === '' || one.only === kind);
}

/** What stands behind `%%acai run` or `%acai submit`. Changing one option leaves all else as it was written. */
export class RunLine {
  private constructor(
    readonly kind: LineKind,
    private readonly segments: readonly ISegment[],
    /** What is for the program: all from `--` on. */
    private readonly rest: readonly IWord[]
  ) {}

  /** Fails with `UnreadableLine`. */
  static read(text: string, kind: LineKind): RunLine {
    const words = wordsOf(text);
    const border = words.findIndex(one => one.value === REST);
    const own = border < 0 ? words : words.slice(0, border);
    const rest = border < 0 ? [] : words.slice(border);
    return new RunLine(kind, segmentsOf(own, kind), rest);
  }

  get text(): string {
    return [...this.segments, ...this.rest].map(one => one.raw).join(' ');
  }

  /** What an option is given, all of it. */
  values(name: string): string[] {
    const said = this.segments.filter(one => one.option === name);
    const option = optionsFor(this.kind).find(one => one.name === name);
    const counting = option?.repeats === true ? said : said.slice(-1);
    return counting.flatMap(one => one.values);
  }

  has(name: string): boolean {
    return this.segments.some(one => one.option === name);
  }

  /** The words that belong to no option that is known. */
  get others(): string[] {
    return this.segments.flatMap(one =>
      one.option === null ? one.values : []
    );
  }

  /** The script, of a line that names one. */
  get scripts(): string[] {
    return this.others.filter(one => !looksLikeOption(one)).slice(0, 1);
  }

  /** What the program is given. */
  get args(): string[] {
    return this.rest.slice(1).map(one => one.value);
  }

  /** The same line with other values of an option; none take it away. */
  with(option: IRunOption, values: readonly string[]): RunLine {
    const { name } = option;
    if (isSame(this.values(name), values)) {
      return this;
    }
    const at = option.words === 'many' ? values.findIndex(looksLikeOption) : -1;
    if (at > 0 && !option.repeats) {
      const theirs = [REST, ...values.slice(at)]; // else they would be options of the job
      const rest = theirs.map(value => ({ value, raw: quoted(value) }));
      const line = this.with(option, values.slice(0, at));
      return new RunLine(line.kind, line.segments, rest);
    }
    return this.replaced(name, writtenAs(option, values));
  }

  /** The same line with a flag, or without it. */
  withFlag(option: IRunOption, isOn: boolean): RunLine {
    if (this.has(option.name) === isOn) {
      return this;
    }
    const flag = { option: option.name, values: [], raw: option.flag };
    return this.replaced(option.name, isOn ? [flag] : []);
  }

  private replaced(name: string, written: readonly ISegment[]): RunLine {
    const first = this.segments.findIndex(one => one.option === name);
    const at = first < 0 ? this.segments.length : first;
    const others = (part: readonly ISegment[]) =>
      part.filter(one => one.option !== name);
    return new RunLine(
      this.kind,
      [
        ...others(this.segments.slice(0, at)),
        ...written,
        ...others(this.segments.slice(at))
      ],
      this.rest
    );
  }
}

function segmentsOf(words: readonly IWord[], kind: LineKind): ISegment[] {
  const options = optionsFor(kind);
  const found: ISegment[] = [];
  let at = 0;
  while (at < words.length) {
    const segment = segmentAt(words.slice(at), options);
    found.push(segment.read);
    at += segment.count;
  }
  return found;
}

function segmentAt(
  words: readonly IWord[],
  options: readonly IRunOption[]
): { read: ISegment; count: number } {
  const [word = { value: '', raw: '' }] = words;
  const found = attached(word.value, options);
  if (found === null) {
    const read = { option: null, values: [word.value], raw: word.raw };
    return { read, count: 1 };
  }
  const { option, value } = found;
  const followers = value === null ? followersOf(words.slice(1), option) : [];
  return {
    read: {
      option: option.name,
      values: value === null ? followers.map(one => one.value) : [value],
      raw: [word, ...followers].map(one => one.raw).join(' ')
    },
    count: 1 + followers.length
  };
}

/** The option that a word is, and the value that stands in the same word, if one does. */
function attached(
  word: string,
  options: readonly IRunOption[]
): { option: IRunOption; value: string | null } | null {
  for (const option of options) {
    const { flag } = option;
    if (word === flag) {
      return { option, value: null };
    }
    if (option.words !== 'none' && word.startsWith(`${flag}=`)) {
      return { option, value: word.slice(flag.length + 1) };
    }
    if (flag.length === 2 && word.startsWith(flag)) {
      return { option, value: word.slice(2) };
    }
  }
  return null;
}

function followersOf(words: readonly IWord[], option: IRunOption): IWord[] {
  if (option.words === 'none') {
    return [];
  }
  const end = words.findIndex(
    (one, at) =>
      looksLikeOption(one.value) ||
      (option.repeats && at > 0 && SCRIPT.test(one.value))
  );
  const free = end < 0 ? words : words.slice(0, end);
  return option.words === 'one' ? free.slice(0, 1) : [...free];
}

/** As argparse sees it: a negative number and a text with blanks are values. */
function looksLikeOption(word: string): boolean {
  const isNumber = /^-\d+$|^-\d*\.\d+$/.test(word);
  return (
    word.length > 1 && word.startsWith('-') && !isNumber && !word.includes(' ')
  );
}

function writtenAs(option: IRunOption, values: readonly string[]): ISegment[] {
  if (values.length === 0) {
    return [];
  }
  if (option.repeats || values.length === 1) {
    return values.map(value => ({
      option: option.name,
      values: [value],
      raw: rawOf(option.flag, value)
    }));
  }
  const raw = [option.flag, ...values.map(quoted)].join(' ');
  return [{ option: option.name, values: [...values], raw }];
}

function rawOf(flag: string, value: string): string {
  if (!looksLikeOption(value) && value !== REST) {
    return `${flag} ${quoted(value)}`;
  }
  // Else it would be taken for an option itself.
  return flag.length === 2
    ? quoted(`${flag}${value}`)
    : quoted(`${flag}=${value}`);
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return (
    some.length === others.length && some.every((one, at) => one === others[at])
  );
}
