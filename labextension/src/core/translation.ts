/** What translates sentences: as much of JupyterLab's `TranslationBundle` as we use. */
export interface ITranslation {
  /** A whole sentence, in which `%1`, `%2`… stand for what follows. */
  __(sentence: string, ...values: readonly Value[]): string;
  /** One of two sentences, by a number; that is `%1` in them, and what follows is `%2`, `%3`… */
  _n(
    one: string,
    many: string,
    count: number,
    ...values: readonly Value[]
  ): string;
}

type Value = string | number;

/** How our sentences are called among those of JupyterLab and its extensions. */
export const DOMAIN = 'acai_jupyter';

/** Sentences as they were written. */
export const ENGLISH: ITranslation = {
  __: (sentence, ...values) => filled(sentence, values),
  _n: (one, many, count, ...values) =>
    filled(count === 1 ? one : many, [count, ...values])
};

let chosen = ENGLISH;

/**
 * The language of the page. To be asked when something is said, never when a module is loaded: modules are there before the
 * language is.
 */
export const trans: ITranslation = {
  __: (sentence, ...values) => chosen.__(sentence, ...values),
  _n: (one, many, count, ...values) => chosen._n(one, many, count, ...values)
};

/** Say everything in another language from now on. */
export function translateBy(translation: ITranslation): void {
  chosen = translation;
}

/** What is kept or sent rather than shown here is said as everywhere. */
export function inEnglish<T>(say: () => T): T {
  const before = chosen;
  chosen = ENGLISH;
  try {
    return say();
  } finally {
    chosen = before;
  }
}

function filled(sentence: string, values: readonly Value[]): string {
  return sentence.replace(/%(%|\d+)/g, (mark, what: string) =>
    what === '%' ? what : String(values[Number(what) - 1] ?? mark)
  );
}
