import * as React from 'react';

import type { IPrediction } from '../contract';
import type { JobForm } from '../core/jobForm';
import { headOf, pointText, rowsOf } from '../core/planText';
import type { RunLine } from '../core/runLine';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';

/** What would happen by the line as it stands. */
export function PlanCard(props: {
  form: JobForm;
  kernel: string;
}): React.ReactElement {
  const { form, kernel } = props;
  const { plan, line } = form;
  const rows =
    plan === null || line === null
      ? []
      : rowsOf(plan, {
          code: codeText(line),
          environment: environmentText(line, kernel),
          now: new Date()
        });
  return (
    <aside
      className="jp-AcaiForm-plan"
      aria-label={trans.__('plan')}
      aria-busy={form.isStale}
    >
      <p className="jp-AcaiForm-title">
        {plan === null ? trans.__('Asking what would happen…') : headOf(plan)}
      </p>
      <dl>
        {rows.map(([term, said], at) => (
          <React.Fragment key={`${at} ${term}`}>
            <dt>{term}</dt>
            <dd>{oneLine(said)}</dd>
          </React.Fragment>
        ))}
      </dl>
      {form.front.length > 1 && <Front form={form} front={form.front} />}
      <p className="jp-AcaiView-aside" role="status">
        {form.isStale ? '' : toldOf(rows)}
      </p>
    </aside>
  );
}

/** The machines than which none is both faster and cheaper, from the cheapest to the fastest. */
function Front(props: {
  form: JobForm;
  front: readonly IPrediction[];
}): React.ReactElement {
  const { form, front } = props;
  const id = React.useId();
  const { chosen } = form;
  const at = chosen >= 0 ? chosen : nearest(form, front);
  const point = front[at];
  const said = point === undefined ? '' : pointText(point);
  return (
    <div className="jp-AcaiForm-front">
      <label className="jp-AcaiForm-frontName" htmlFor={id}>
        {trans.__('machine, from the cheapest to the fastest')}
      </label>
      <Curve front={front} chosen={at} />
      <input
        id={id}
        type="range"
        min={0}
        max={front.length - 1}
        step={1}
        value={at}
        aria-valuetext={said}
        onChange={event => {
          form.choose(Number(event.target.value));
        }}
      />
      <output htmlFor={id}>
        {chosen >= 0 ? said : trans.__('not the one asked for: %1', said)}
      </output>
      {form.bound !== '' && (
        <span className="jp-AcaiForm-frontName">
          {trans.__('No larger ones: %1.', form.bound)}
        </span>
      )}
    </div>
  );
}

const WIDTH = 240;
const HEIGHT = 56;
const EDGE = 6;

/** Time over cost, one dot for each machine. */
function Curve(props: {
  front: readonly IPrediction[];
  chosen: number;
}): React.ReactElement {
  const { front, chosen } = props;
  const x = scale(
    front.map(one => one.cost_usd),
    EDGE,
    WIDTH - EDGE
  );
  const y = scale(
    front.map(one => one.seconds),
    HEIGHT - EDGE,
    EDGE
  );
  const places = front.map((_, at) => `${x[at] ?? 0},${y[at] ?? 0}`);
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <polyline points={places.join(' ')} />
      {front.map((_, at) => (
        <circle
          key={at}
          cx={x[at]}
          cy={y[at]}
          r={at === chosen ? 5 : 2.5}
          data-chosen={at === chosen ? '' : undefined}
        />
      ))}
    </svg>
  );
}

function scale(values: readonly number[], from: number, to: number): number[] {
  const low = Math.min(...values);
  const width = Math.max(...values) - low;
  return values.map(value =>
    width === 0 ? from : from + ((value - low) / width) * (to - from)
  );
}

/** Where the slider stands for a machine that is not among them: at what takes about as long. */
function nearest(form: JobForm, front: readonly IPrediction[]): number {
  const seconds = form.plan?.expected?.seconds ?? 0;
  const off = front.map(one => Math.abs(one.seconds - seconds));
  return off.indexOf(Math.min(...off));
}

function codeText(line: RunLine): string {
  const script = line.kind === 'cell' ? line.values('script') : line.scripts;
  const [
    program = line.kind === 'cell'
      ? trans.__('this cell')
      : trans.__('a command')
  ] = script;
  const [folder] = line.values('code');
  return folder === undefined
    ? trans.__('%1, and what it imports of the project', program)
    : trans.__('%1, and all of %2', program, folder);
}

function environmentText(line: RunLine, kernel: string): string {
  const [image] = line.values('image');
  const [file] = line.values('env');
  if (image !== undefined) {
    return trans.__('image %1', image);
  }
  return file === undefined
    ? trans.__('as the kernel has it: %1', kernel)
    : trans.__('its own, from %1', file);
}

/** What is read out when the plan has changed. */
function toldOf(rows: ReturnType<typeof rowsOf>): string {
  const told = [trans.__('machine'), trans.__('expected'), trans.__('start')];
  return rows
    .filter(([term]) => told.includes(term))
    .map(([term, said]) => `${term}: ${said}`)
    .join('. ');
}
