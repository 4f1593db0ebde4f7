/** What a filter field does with the text of a query: take it apart and put conditions to it. */

/** What somebody could ask of jobs. */
// eslint-disable-next-line acai/untranslated -- the query language
export const QUERY_EXAMPLE = "state = 'running' and accuracy > 0.9";

/** A value as the query language writes it. */
export function written(value: string | number | boolean): string {
  return typeof value === 'string'
    ? `'${value.replaceAll("'", "''")}'`
    : String(value);
}

/** The condition that a thing has a value of a key; a label is among its tags. */
export function clauseFor(
  key: string,
  value: string | number | boolean
): string {
  return key === 'tags'
    ? // eslint-disable-next-line acai/untranslated -- the query language
      `${written(value)} in tags`
    : `${named(key)} = ${written(value)}`;
}

/** A query that wants a condition too, or does not want it any more. */
export function toggled(query: string, clause: string): string {
  const { where, tail } = apart(query);
  const parts = conjuncts(where);
  const rest = parts.filter(one => one !== clause);
  const wanted =
    rest.length < parts.length ? rest : [...parts.map(inOne), clause];
  return [wanted.join(' and '), tail].filter(part => part !== '').join(' ');
}

/** A query without the conditions by which a key has one value: what could be chosen instead. */
export function without(query: string, key: string): string {
  const { where, tail } = apart(query);
  const rest = conjuncts(where).filter(one => !isValueOf(one, key));
  return [rest.join(' and '), tail].filter(part => part !== '').join(' ');
}

/** A query that wants one value of a key in the place of another; of labels a thing can have many. */
export function chosen(query: string, key: string, clause: string): string {
  return key === 'tags' || has(query, clause)
    ? toggled(query, clause)
    : toggled(without(query, key), clause);
}

/** Whether a query wants a condition, as it is written by `clauseFor`. */
export function has(query: string, clause: string): boolean {
  return conjuncts(apart(query).where).includes(clause);
}

/** The word that is being typed at a place, which may be the beginning of a key. */
export function wordAt(query: string, place: number): string {
  const before = query.slice(0, place);
  const isInText = (before.match(/'/g)?.length ?? 0) % 2 === 1;
  return isInText ? '' : (/[A-Za-z_][\w.-]*$/.exec(before)?.[0] ?? '');
}

function isValueOf(clause: string, key: string): boolean {
  return key !== 'tags' && clause.startsWith(`${named(key)} = `);
}

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
