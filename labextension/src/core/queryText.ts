/** What a filter field does with the text of a query: take it apart and put conditions to it. */

/** What somebody could ask of jobs. */
// eslint-disable-next-line acai/untranslated -- the query language
export const QUERY_EXAMPLE = "state = 'running' and accuracy > 0.9";

type Plain = string | number | boolean;

/** A value as the query language writes it. */
export function written(value: Plain): string {
  return typeof value === 'string'
    ? `'${value.replaceAll("'", "''")}'`
    : String(value);
}

/** The condition that a thing has a value of a key; a label is among its tags. */
export function clauseFor(key: string, value: Plain): string {
  return key === 'tags'
    ? // eslint-disable-next-line acai/untranslated -- the query language
      `${written(value)} in tags`
    : `${named(key)} = ${written(value)}`;
}

/** A query without the conditions by which a key has some value: what could be chosen instead. */
export function without(query: string, key: string): string {
  const { where, tail } = apart(query);
  const rest = conjuncts(where).filter(one => wantedBy(one, key) === null);
  return joined(rest, tail);
}

/** A query that wants one more value of a key, or not any more: any of them, but of labels all. */
export function chosen(query: string, key: string, value: Plain): string {
  const clause = clauseFor(key, value);
  if (key === 'tags') {
    const { where, tail } = apart(query);
    const parts = conjuncts(where);
    const rest = parts.filter(one => one !== clause);
    return rest.length < parts.length
      ? joined(rest, tail)
      : narrowed(query, clause);
  }
  const before = wanted(query, key);
  const rest = before.filter(one => one !== written(value));
  const values =
    rest.length < before.length ? rest : [...before, written(value)];
  const others = without(query, key);
  const [only] = values;
  if (only === undefined) {
    return others;
  }
  const isOne = values.length === 1;
  return narrowed(
    others,
    `${named(key)} ${isOne ? `= ${only}` : `in (${values.join(', ')})`}`
  );
}

/** Whether a query wants a value of a key, as `chosen` writes it. */
export function has(query: string, key: string, value: Plain): boolean {
  return key === 'tags'
    ? conjuncts(apart(query).where).includes(clauseFor(key, value))
    : wanted(query, key).includes(written(value));
}

/** A query that wants a condition too. */
export function narrowed(query: string, clause: string): string {
  const { where, tail } = apart(query);
  return joined([...conjuncts(where).map(inOne), clause], tail);
}

/** The word that is being typed at a place, which may be the beginning of a key. */
export function wordAt(query: string, place: number): string {
  const before = query.slice(0, place);
  const isInText = (before.match(/'/g)?.length ?? 0) % 2 === 1;
  return isInText ? '' : (/[A-Za-z_][\w.-]*$/.exec(before)?.[0] ?? '');
}

/** A query with a key in the place of the word at a place, and where one types on. */
export function completed(
  query: string,
  place: number,
  key: string
): { text: string; place: number } {
  const begin = place - wordAt(query, place).length;
  const rest = query.slice(place).replace(/^[\w.-]*/, '');
  const space = rest === '' || rest.startsWith(' ') ? ' ' : '';
  const head = `${query.slice(0, begin)}${named(key)}${space}`;
  return { text: head + rest.slice(space.length), place: head.length };
}

/** So much of a query is shown in front of the place that an error speaks of. */
const SHOWN = 60;

/** A query with a mark on the line below, under the column that an error speaks of; of a long one the part around it. */
export function markedBelow(query: string, column: number): string {
  const cut = Math.max(0, column - SHOWN);
  const begin = cut === 0 ? '' : '…';
  const shown = begin + oneColumn(query.slice(cut, cut + 2 * SHOWN));
  const spaces = ' '.repeat(begin.length + column - cut - 1);
  return `${shown}\n${spaces}^`;
}

/** A line on which each character is one column wide. */
function oneColumn(text: string): string {
  return text.replace(/\s/g, ' ');
}

function joined(parts: readonly string[], tail: string): string {
  return [parts.join(' and '), tail].filter(part => part !== '').join(' ');
}

/** Which values of a key a query wants, as they are written. */
function wanted(query: string, key: string): string[] {
  return conjuncts(apart(query).where).flatMap(one => wantedBy(one, key) ?? []);
}

/** Which values of a key a condition wants; null where it speaks of something else. */
function wantedBy(clause: string, key: string): string[] | null {
  const found = VALUES.exec(clause);
  if (key === 'tags' || found?.[1] !== named(key)) {
    return null;
  }
  const [, , one, many] = found;
  return one === undefined ? (many?.match(VALUE) ?? []) : [one];
}

const ONE_VALUE = String.raw`'(?:[^']|'')*'|[^\s,()']+`;
const VALUE = new RegExp(ONE_VALUE, 'g');
const VALUES = new RegExp(
  String.raw`^([\w.-]+|"[^"]*") (?:= (${ONE_VALUE})|in \(((?:${ONE_VALUE})(?:\s*,\s*(?:${ONE_VALUE}))*)\))$`
);

const WORDS =
  /^(?:and|or|not|in|between|has|order|by|asc|desc|limit|true|false)$/i;

function named(key: string): string {
  return WORDS.test(key) ? `"${key}"` : key;
}

/** What is asked for, and in which order and how much of it. */
function apart(query: string): { where: string; tail: string } {
  const at = placeOf(query, /^(?:order\s+by|limit)\b/i);
  return at === null
    ? { where: query.trim(), tail: '' }
    : { where: query.slice(0, at).trim(), tail: query.slice(at).trim() };
}

/** What all has to be true, as it stands there. */
function conjuncts(where: string): string[] {
  if (where === '' || placeOf(where, /^or\b/i) !== null) {
    return where === '' ? [] : [where];
  }
  const found: string[] = [];
  let rest = where;
  for (;;) {
    const at = placeOf(rest, /^and\b/i);
    if (at === null || isBetween(rest.slice(0, at))) {
      return [...found, rest.trim()];
    }
    found.push(rest.slice(0, at).trim());
    rest = rest.slice(at + 3);
  }
}

/** In `x between 1 and 5` the word joins nothing: what follows is left in one piece. */
function isBetween(text: string): boolean {
  return /\bbetween\b/i.test(text);
}

/** `a or b` is put in parentheses before something is joined to it. */
function inOne(part: string): string {
  return placeOf(part, /^or\b/i) === null ? part : `(${part})`;
}

/** Where a word begins that is not within a text, a name or parentheses. */
function placeOf(query: string, word: RegExp): number | null {
  let depth = 0;
  let quote = '';
  for (let at = 0; at < query.length; at += 1) {
    const character = query.charAt(at);
    if (quote !== '') {
      quote = character === quote ? '' : quote;
    } else if (character === "'" || character === '"') {
      quote = character;
    } else if (character === '(' || character === ')') {
      depth += character === '(' ? 1 : -1;
    } else if (
      depth === 0 &&
      !/[\w.-]/.test(query.charAt(at - 1)) &&
      word.test(query.slice(at))
    ) {
      return at;
    }
  }
  return null;
}
