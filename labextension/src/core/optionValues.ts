import type { IRunOption, OptionKind } from './runLine';
import { trans } from './translation';

/** A value of a parameter. */
export type ParameterValue = string | number;

/** What is wrong with a word, in one sentence. */
export class BadValue extends Error {}

const WHOLE = /^[+-]?(?:0|[1-9]\d{0,17})$/;
const BROKEN = /^[+-]?(?:\d+\.\d*|\.\d+|\d+(?=e))(?:e[+-]?\d+)?$/i;
const VARIABLE = /^[A-Za-z_]\w*$/;
const SWEPT = /\s*(?:'([^']*)'|"([^"]*)"|([^,'"]*?))\s*(?=,|$)/y;
const GPU_TYPE = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const UNITS = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };
const DURATION =
  /^(?:(\d+(?:\.\d*)?)d)?(?:(\d+(?:\.\d*)?)h)?(?:(\d+(?:\.\d*)?)m)?(?:(\d+(?:\.\d*)?)s)?$/;
const SECONDS = [86_400, 3_600, 60, 1];
const LEAST_CONFIDENCE = 0.5;

/** A number above 0. */
export function readAmount(text: string): number {
  const number = /^\s*$/.test(text) ? 0 : Number(text);
  if (!(number > 0 && number < Infinity)) {
    throw new BadValue(trans.__("'%1' is not a number above 0.", text));
  }
  return number;
}

/** How sure it is to be. */
export function readConfidence(text: string): number {
  const number = readAmount(text);
  if (number < LEAST_CONFIDENCE || number >= 1) {
    throw new BadValue(trans.__("'%1' is not from 0.5 to 0.999.", text));
  }
  return Math.min(number, 0.999);
}

/** `512Mi`, `4Gi`, `2G` or plain bytes. */
export function readSize(text: string): number {
  const found = /^(\d+(?:\.\d*)?|\.\d+)([kmgt]?)i?b?$/i.exec(text.trim());
  if (found === null) {
    throw new BadValue(
      trans.__("'%1' is not a size; write it like 512Mi or 4Gi.", text)
    );
  }
  const unit = (found[2] ?? '').toLowerCase() as keyof typeof UNITS;
  return Math.floor(Number(found[1]) * UNITS[unit]);
}

/** `30s`, `1h30m` or plain seconds. */
export function readTime(text: string): number {
  const written = text.trim().toLowerCase();
  const found = DURATION.exec(
    /^\d+(\.\d*)?$/.test(written) ? `${written}s` : written
  );
  const seconds = SECONDS.reduce(
    (sum, factor, at) => sum + factor * Number(found?.[at + 1] ?? 0),
    0
  );
  if (!(seconds > 0 && seconds < Infinity)) {
    throw new BadValue(
      trans.__("'%1' is not a time; write it like 30s, 20m or 1h30m.", text)
    );
  }
  return seconds;
}

export function readWhole(text: string, low: number, high: number): number {
  const number = Number(text);
  if (!WHOLE.test(text) || number < low || number > high) {
    throw new BadValue(
      trans.__("'%1' is not a whole number from %2 to %3.", text, low, high)
    );
  }
  return number;
}

/** NAME=VALUE. */
export function readVariable(text: string): [name: string, value: string] {
  const equals = text.indexOf('=');
  const name = text.slice(0, Math.max(0, equals));
  if (!VARIABLE.test(name)) {
    throw new BadValue(trans.__("'%1' is not NAME=VALUE.", text));
  }
  return [name, text.slice(equals + 1)];
}

/** NAME=VALUE; a value that is written as a number is one. */
export function readParameter(text: string): [string, ParameterValue] {
  const [name, value] = readVariable(text);
  return [name, asNumber(value)];
}

/** NAME=V1,V2…; a value in quotes is a text, whatever is in it. */
export function readSweep(text: string): [string, ParameterValue[]] {
  const [name, rest] = readVariable(text);
  const found: ParameterValue[] = [];
  SWEPT.lastIndex = 0;
  for (let at = 0; at <= rest.length;) {
    SWEPT.lastIndex = at;
    const one = SWEPT.exec(rest);
    const literal = one?.[1] ?? one?.[2];
    if (one === null || (literal === undefined && !one[3])) {
      throw new BadValue(
        trans.__(
          "'%1' is not NAME=VALUE,VALUE; quote a value with commas or quotes.",
          text
        )
      );
    }
    found.push(literal ?? asNumber(one[3] ?? ''));
    at += one[0].length + 1;
  }
  return [name, found];
}

/** NAME, or NAME=SECRET where the secret is called otherwise than the variable. */
export function readSecret(text: string): [name: string, secret: string] {
  const [name = '', secret] = text.split(/=(.*)/s);
  if (!VARIABLE.test(name) || secret === '') {
    throw new BadValue(trans.__("'%1' is neither NAME nor NAME=SECRET.", text));
  }
  return [name, secret ?? name];
}

function readText(text: string, { name }: IRunOption): string {
  if (name === 'gpu-type' && !GPU_TYPE.test(text)) {
    throw new BadValue(
      trans.__(
        "'%1' is no type of GPUs: letters and digits, and inside . _ and -",
        text
      )
    );
  }
  if (name === 'tag' && !/^(?:\+.+|[A-Za-z_][\w.-]*=.+)$/.test(text)) {
    throw new BadValue(trans.__("'%1' is neither KEY=VALUE nor +LABEL.", text));
  }
  return text;
}

const READERS: {
  [kind in OptionKind]: (text: string, option: IRunOption) => unknown;
} = {
  amount: readAmount,
  confidence: readConfidence,
  parameter: readParameter,
  secret: readSecret,
  size: readSize,
  sweep: readSweep,
  text: readText,
  time: readTime,
  variable: readVariable,
  whole: (text, { low, high }) => readWhole(text, low ?? 0, high ?? Infinity)
};

/** What is wrong with one value of an option; empty where nothing is. */
export function faultOf(option: IRunOption, value: string): string {
  try {
    READERS[option.kind](value, option);
    return '';
  } catch (error) {
    return error instanceof BadValue ? error.message : String(error);
  }
}

function asNumber(value: string): ParameterValue {
  return WHOLE.test(value) || BROKEN.test(value) ? Number(value) : value;
}
