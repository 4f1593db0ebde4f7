import * as React from 'react';

import type { IAffected, ICause, IWhyDifferent } from '../contract';
import { asAcaiError } from '../core/connectionStore';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { formatValue } from '../core/values';
import { Action } from '../views/action';

/** What can be asked of the graph beyond how it looks. */
export interface IGraphAnswers {
  /** All that was made of a file set version. */
  affected: (ref: string) => Promise<IAffected>;
  /** In what the lineages of two file set versions differ. */
  difference: (before: string, after: string) => Promise<IWhyDifferent>;
}

/** So many lines stand beside the graph. */
const MOST_LINES = 200;

/** Questions about the selected file set, and the answer to the last one. */
export function Answers(props: {
  thing: string;
  /** The file set that was remembered before; empty where none was. */
  other: string;
  ask: IGraphAnswers;
  onShow: (thing: string) => void;
}): React.ReactElement {
  const { thing, other, ask, onShow } = props;
  const [answer, setAnswer] = React.useState<React.ReactElement | null>(null);
  const [failure, setFailure] = React.useState('');
  const attempt = async (work: () => Promise<React.ReactElement>) => {
    setFailure('');
    try {
      setAnswer(await work());
    } catch (error) {
      setAnswer(null);
      setFailure(asAcaiError(error).message);
    }
  };
  return (
    <>
      <div role="group" aria-label={trans.__('what to ask')}>
        <Action
          words={trans.__('what is affected')}
          onClick={() =>
            void attempt(async () => (
              <AffectedList found={await ask.affected(thing)} onShow={onShow} />
            ))
          }
        />
        {other !== '' && other !== thing && (
          <Action
            words={trans.__('why different from %1', oneLine(other))}
            onClick={() =>
              void attempt(async () => (
                <Causes found={await ask.difference(other, thing)} />
              ))
            }
          />
        )}
      </div>
      {failure !== '' && (
        <p className="jp-AcaiView-error" role="alert">
          {failure}
        </p>
      )}
      {answer}
    </>
  );
}

function AffectedList(props: {
  found: IAffected;
  onShow: (thing: string) => void;
}): React.ReactElement {
  const { found, onShow } = props;
  const newest = new Set(found.newest);
  const things = [
    ...found.sets.map(one => ({
      thing: `${one.name}:${one.version}`,
      words: oneLine(`${one.name}:${one.version}`)
    })),
    ...found.jobs.map(one => ({
      thing: String(one.number),
      words: trans.__('job %1', one.number)
    }))
  ];
  const counts = `${trans._n('%1 file set', '%1 file sets', found.set_count)} · ${trans._n('%1 job', '%1 jobs', found.job_count)}`;
  return (
    <section
      aria-label={trans.__('affected by %1', oneLine(found.focus))}
      className="jp-AcaiProvenance-answer"
    >
      <p aria-live="polite">
        {things.length === 0
          ? trans.__('Nothing was made of %1.', oneLine(found.focus))
          : trans.__(
              'Would have to be made again if %1 changed: %2',
              oneLine(found.focus),
              counts
            )}
        {found.is_cut === true &&
          ` ${trans.__('There are more, which are not listed.')}`}
      </p>
      <ul>
        {things.slice(0, MOST_LINES).map(({ thing, words }) => (
          <li key={thing} data-acai-thing={thing}>
            <Action
              words={words}
              onClick={() => {
                onShow(thing);
              }}
            />
            {newest.has(thing) && trans.__('newest')}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Causes(props: { found: IWhyDifferent }): React.ReactElement {
  const { found } = props;
  const names = [oneLine(found.before), oneLine(found.after)] as const;
  return (
    <section
      aria-label={trans.__('why %1 and %2 differ', ...names)}
      className="jp-AcaiProvenance-answer"
    >
      <p aria-live="polite">
        {found.causes.length === 0
          ? trans.__('Nothing in their lineages differs: %1 and %2', ...names)
          : trans.__('In what %1 and %2 differ, the nearest first:', ...names)}
        {found.is_cut === true &&
          ` ${trans.__('They go further back than was looked.')}`}
      </p>
      <ul>
        {found.causes.slice(0, MOST_LINES).map((cause, at) => (
          <li key={at}>{wordsOf(cause)}</li>
        ))}
      </ul>
    </section>
  );
}

function wordsOf(cause: ICause): string {
  const { what, before, after, of, paths = [] } = cause;
  const said = (value: ICause['before']) =>
    value === null ? trans.__('none') : formatValue('', value);
  const files = paths.map(oneLine).join(', ');
  return [
    trans.__('%1: %2 → %3', oneLine(what), said(before), said(after)),
    ...(files === '' ? [] : [files]),
    ...(of === undefined || of[0] === ''
      ? []
      : [trans.__('of %1 and %2', oneLine(of[0]), oneLine(of[1]))])
  ].join(' · ');
}
