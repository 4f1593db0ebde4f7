import type { IJobState, ISweepTable } from '../contract';
import { factsOf } from './jobFacts';
import type { IJobSnapshot } from './jobModel';
import { describeJob, hasEndedIn } from './jobText';
import {
  bestOf,
  describeBest,
  describeSweep,
  firstMetric,
  isBetterLow,
  pageOf
} from './sweepTable';
import { oneLine } from './text';
import { inEnglish } from './translation';
import { formatValue } from './values';

/** What a notebook shows where our views are not: on paper, on a web site, in another editor. */
export interface IPlainForms {
  text: string;
  /** No script, everything escaped, the page's own colours, in English; as `commands/markup.py` writes it. */
  html: string;
}

/** So many rows are written. */
const ROWS = 100;
const FONT =
  'font-family: var(--jp-ui-font-family, system-ui, sans-serif); font-size: var(--jp-ui-font-size1, 13px); line-height: 1.5';
const QUIET = 'color: var(--jp-ui-font-color2, inherit)';
const TABLE =
  'margin: 4px 0; width: auto; text-align: left; font-variant-numeric: tabular-nums';
const TERM = `text-align: left; font-weight: normal; ${QUIET}; padding: 2px 16px 2px 0; vertical-align: top; white-space: nowrap`;
const SAID = 'text-align: left; padding: 2px 0; overflow-wrap: anywhere';
const GOOD = '--jp-success-color1, #2e7d32';
const BAD = '--jp-error-color1, #d32f2f';
const BUSY = '--jp-info-color1, #0288d1';

/** How a job stands; where the cell does not show it already also what belongs to it. */
export function jobForms(snapshot: IJobSnapshot): IPlainForms {
  const { job, notes = [], log_is_below: isBrief = false } = snapshot;
  const now = new Date();
  const said = inEnglish(() => describeJob(job, now));
  const facts = isBrief ? [] : inEnglish(() => factsOf(job, now));
  const below = notes.map(note => quiet(written(note)));
  const title = `<div>${mark(job.state)}${written(said)}</div>`;
  return {
    text: [said, ...notes.map(oneLine), ...columns(facts)].join('\n'),
    html: block('job', title, ...below, factsTable(facts))
  };
}

function columns(facts: readonly (readonly [string, string])[]): string[] {
  const rows = facts.map(([term, said]) => [`  ${term}`, oneLine(said)]);
  return aligned(rows, [false, false]);
}

function factsTable(facts: readonly (readonly [string, string])[]): string {
  const rows = facts.map(
    ([term, said]) =>
      `<tr style="background: none"><th scope="row" style="${TERM}">${written(term)}</th><td style="${SAID}">${written(said)}</td></tr>`
  );
  return rows.length === 0
    ? ''
    : `<table style="${TABLE}"><tbody>${rows.join('')}</tbody></table>`;
}

export function sweepForms(table: ISweepTable, count: number): IPlainForms {
  const { columns, rows } = pageOf(table);
  const names = ['job', ...columns].map(oneLine);
  const shown = rows.slice(0, ROWS);
  const cells = shown.map(row => [
    row.thing,
    ...row.values.map((value, at) =>
      inEnglish(() => formatValue(columns[at] ?? '', value))
    )
  ]);
  const isRight = names.map(
    (_, at) =>
      at === 0 || shown.every(row => isNumberOrNone(row.values[at - 1]))
  );
  const more = count - shown.length;
  const rest = more > 0 ? `… ${more.toLocaleString('en-US')} more` : '';
  const title = inEnglish(() => headline(table, count));
  return {
    text: [title, ...aligned([names, ...cells], isRight), rest]
      .filter(line => line !== '')
      .join('\n'),
    html: block(
      'table',
      `<div>${written(title)}</div>`,
      tableOf(names, cells, isRight),
      rest === '' ? '' : quiet(rest)
    )
  };
}

function headline(table: ISweepTable, count: number): string {
  const metric = firstMetric(table);
  const best =
    metric === null ? null : bestOf(table, metric, isBetterLow(metric));
  const said = oneLine(describeSweep(table, count));
  return metric === null || best === null
    ? said
    : `${said} · ${oneLine(describeBest(best, metric))}`;
}

function tableOf(
  names: readonly string[],
  cells: readonly string[][],
  isRight: readonly boolean[]
): string {
  const side = (at: number) =>
    `text-align: ${isRight[at] === true ? 'right' : 'left'}`;
  const head = names.map(
    (name, at) => `<th scope="col" style="${side(at)}">${written(name)}</th>`
  );
  const body = cells.map(row => {
    const all = row.map(
      (cell, at) => `<td style="${side(at)}">${written(cell)}</td>`
    );
    return `<tr>${all.join('')}</tr>`;
  });
  return `<table style="${TABLE}"><thead><tr>${head.join('')}</tr></thead><tbody>${body.join('')}</tbody></table>`;
}

function aligned(
  rows: readonly string[][],
  isRight: readonly boolean[]
): string[] {
  const widths = isRight.map((_, at) =>
    Math.max(...rows.map(row => (row[at] ?? '').length))
  );
  return rows.map(row =>
    row
      .map((cell, at) =>
        isRight[at] === true
          ? cell.padStart(widths[at] ?? 0)
          : cell.padEnd(widths[at] ?? 0)
      )
      .join('  ')
      .trimEnd()
  );
}

function isNumberOrNone(value: unknown): boolean {
  return value === null || value === undefined || typeof value === 'number';
}

function quiet(html: string): string {
  return `<div style="${QUIET}">${html}</div>`;
}

function block(kind: string, ...parts: readonly string[]): string {
  return `<div class="acai-${kind}" style="${FONT}">${parts.join('')}</div>`;
}

function mark(state: IJobState): string {
  const colour = !hasEndedIn(state) ? BUSY : state === 'finished' ? GOOD : BAD;
  return `<span aria-hidden="true" style="color: var(${colour}); margin-right: 6px">&#9679;</span>`;
}

/** What others wrote is neither markup nor more than one line. */
function written(text: string): string {
  return oneLine(text).replace(
    /[&<>"']/g,
    character => ESCAPES[character] ?? ''
  );
}

const ESCAPES: { [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#x27;'
};
