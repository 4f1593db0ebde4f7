import * as React from 'react';

import type { ICreateJob, IJob, IJobRequest } from '../contract';
import {
  attemptRows,
  describePrediction,
  environmentRows
} from '../core/jobDetail';
import { linesOf } from '../core/jobLines';
import type { JobModel } from '../core/jobModel';
import { lastAttempt } from '../core/jobText';
import { isGiven } from '../core/given';
import type { ProjectClient } from '../core/projectClient';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { useAnswer } from '../views/answer';
import { Fault } from '../views/fault';
import { ChangedRun } from './changedRun';
import { Editing } from './editing';

export interface ISectionsProps {
  model: JobModel;
  client: ProjectClient;
  /** As lines have to name it; empty where it goes without saying. */
  project: string;
  onProvenance: ((spec: string) => void) | null;
  onOpen: (job: number) => void;
  /** What changed in the code. */
  changes: React.ReactNode;
  code: ICodeSource;
}

/** Where the text of a file of a job's code is read. */
export interface ICodeSource {
  read(request: ICreateJob, file: string): Promise<string>;
}

/** What there is to know of a job beyond how it stands, each part below a heading that opens it. */
export function Sections(props: ISectionsProps): React.ReactElement {
  const { model, client, project, code, onProvenance, onOpen, changes } = props;
  const { job } = model;
  return (
    <div className="jp-AcaiSections">
      <Section title={trans.__('Tags and note')} isOpen>
        <Editing
          job={job}
          onChange={async change => {
            const thing = String(job.number);
            try {
              await client.tag({ changes: [{ thing, ...change }] });
            } finally {
              await model.refresh();
            }
          }}
        />
      </Section>
      <Section title={trans.__('Inputs and outputs')} isOpen>
        <Flow job={job} onProvenance={onProvenance} />
      </Section>
      <Section title={trans.__('Attempts')}>
        <Attempts job={job} />
        <Prediction job={job} client={client} />
      </Section>
      <Section title={trans.__('Code and environment')}>
        {changes}
        <Asked job={job} client={client}>
          {asked => <Environment job={job} asked={asked} />}
        </Asked>
      </Section>
      <Section title={trans.__('Run again with changes')}>
        <Asked job={job} client={client}>
          {asked => (
            <ChangedRun
              key={job.number}
              request={asked.request}
              submit={request => client.submit(request)}
              onOpen={onOpen}
            />
          )}
        </Asked>
      </Section>
      <Section title={trans.__('Copy')}>
        <Asked job={job} client={client}>
          {asked => <Lines asked={asked} project={project} code={code} />}
        </Asked>
      </Section>
    </div>
  );
}

/** Its content is not there before it is first opened. */
function Section(props: {
  title: string;
  isOpen?: boolean;
  children: React.ReactNode;
}): React.ReactElement {
  const [wasOpen, setWasOpen] = React.useState(props.isOpen === true);
  return (
    <details
      className="jp-AcaiSections-section"
      open={props.isOpen}
      onToggle={event => {
        setWasOpen(wasOpen || event.currentTarget.open);
      }}
    >
      <summary>{props.title}</summary>
      {wasOpen && props.children}
    </details>
  );
}

function Flow(props: {
  job: IJob;
  onProvenance: ((spec: string) => void) | null;
}): React.ReactElement {
  const { job, onProvenance } = props;
  const rows: [string, string][] = [
    ...job.inputs.map((ref): [string, string] => [trans.__('input'), ref]),
    ...(isGiven(job.variables)
      ? [[trans.__('variables'), job.variables] as [string, string]]
      : []),
    ...(isGiven(job.output)
      ? [[trans.__('output'), job.output] as [string, string]]
      : []),
    ...(isGiven(job.partial)
      ? [[trans.__('partial output'), job.partial] as [string, string]]
      : [])
  ];
  if (rows.length === 0) {
    return <p>{trans.__('It has neither inputs nor outputs.')}</p>;
  }
  return (
    <dl className="jp-AcaiSections-facts">
      {rows.map(([role, ref]) => (
        <React.Fragment key={`${role} ${ref}`}>
          <dt>{role}</dt>
          <dd data-acai-thing={ref}>
            {oneLine(ref)}{' '}
            {onProvenance !== null && (
              <button
                type="button"
                className="jp-AcaiView-button"
                aria-label={trans.__('provenance of %1', oneLine(ref))}
                onClick={() => {
                  onProvenance(ref);
                }}
              >
                {' '}
                {trans.__('provenance')}{' '}
              </button>
            )}
          </dd>
        </React.Fragment>
      ))}
    </dl>
  );
}

function Attempts(props: { job: IJob }): React.ReactElement {
  const rows = attemptRows(props.job);
  if (rows.length === 0) {
    return <p>{trans.__('It was not tried yet.')}</p>;
  }
  const heads = [
    '',
    trans.__('machine'),
    trans.__('end'),
    trans.__('ran'),
    trans.__('billed'),
    trans.__('cost'),
    trans.__('most memory')
  ];
  return (
    <table className="jp-AcaiCompare-table">
      <thead>
        <tr>
          {heads.map(head =>
            head === '' ? (
              <td key={head} />
            ) : (
              <th scope="col" key={head}>
                {head}
              </th>
            )
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <tr key={row.number}>
            <th scope="row">{row.number}</th>
            <td>{row.machine}</td>
            <td>{row.end}</td>
            <td>{row.runTime}</td>
            <td>{row.billedTime}</td>
            <td>{row.cost}</td>
            <td>{row.peak}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** How long it was to take by the model of its kind, where the model knows it. */
function Prediction(props: {
  job: IJob;
  client: ProjectClient;
}): React.ReactElement | null {
  const { job, client } = props;
  const { number, state } = job;
  const actual = lastAttempt(job)?.billed_seconds;
  const isDone = state === 'finished' && isGiven(actual);
  const ask = React.useCallback(
    () => (isDone ? client.predicted(number) : Promise.resolve(null)),
    [client, number, isDone]
  );
  // Where there were too few runs of its kind, there is nothing to say.
  const { found } = useAnswer(ask);
  return found === null || !isGiven(actual) ? null : (
    <p>{describePrediction(found, actual)}</p>
  );
}

/** What was asked for, once the server has said so. */
function Asked(props: {
  job: IJob;
  client: ProjectClient;
  children: (asked: IJobRequest) => React.ReactElement;
}): React.ReactElement {
  const { job, client, children } = props;
  const { number, state } = job;
  const attempt = lastAttempt(job)?.number ?? 0;
  const ask = React.useCallback(
    () => client.asked(number),
    [client, number, state, attempt]
  );
  const { found, failure, tryAgain } = useAnswer(ask);
  return (
    <>
      <Fault words={failure} onAgain={tryAgain} />
      {found !== null && children(found)}
      {found === null && failure === '' && <p>{trans.__('Asking…')}</p>}
    </>
  );
}

function Environment(props: {
  job: IJob;
  asked: IJobRequest;
}): React.ReactElement {
  const { job, asked } = props;
  const { command } = job;
  const words = typeof command === 'string' ? command : command.join(' ');
  const rows: [string, string][] = [
    [trans.__('command'), oneLine(words)],
    ...(isGiven(job.code)
      ? [[trans.__('code'), oneLine(job.code)] as [string, string]]
      : []),
    ...(isGiven(asked.request.image)
      ? [[trans.__('image'), oneLine(asked.request.image)] as [string, string]]
      : []),
    ...environmentRows(asked)
  ];
  return (
    <div
      className="jp-AcaiSections-long"
      role="region"
      aria-label={trans.__('environment')}
      // It can be scrolled by the keyboard.
      tabIndex={0}
    >
      <dl className="jp-AcaiSections-facts">
        {rows.map(([name, value]) => (
          <React.Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </React.Fragment>
        ))}
      </dl>
    </div>
  );
}

/** The same job as one would write it. */
function Lines(props: {
  asked: IJobRequest;
  project: string;
  code: ICodeSource;
}): React.ReactElement {
  const { asked, project, code } = props;
  const [told, setTold] = React.useState('');
  const { file, requirements, notes, ...lines } = linesOf(asked, project);
  const ask = React.useCallback(
    () => (file === '' ? Promise.resolve('') : code.read(asked.request, file)),
    [asked, file, code]
  );
  const { found, failure, tryAgain } = useAnswer(ask);
  const cell = file === '' ? lines.cell : below(lines.cell, found);
  const copy = (text: string, done: string) => {
    void navigator.clipboard.writeText(text).then(
      () => {
        setTold(done);
      },
      () => {
        setTold(trans.__('The browser does not let this page copy.'));
      }
    );
  };
  const forms: [name: string, text: string, words: string, done: string][] = [
    [
      trans.__('As cell'),
      cell,
      trans.__('copy as cell'),
      trans.__('Copied as cell.')
    ],
    [
      trans.__('As shell'),
      lines.shell,
      trans.__('copy as shell'),
      trans.__('Copied as shell.')
    ],
    [
      trans.__('As Python'),
      lines.python,
      trans.__('copy as Python'),
      trans.__('Copied as Python.')
    ],
    [
      'requirements.txt',
      requirements,
      trans.__('copy requirements.txt'),
      trans.__('Copied requirements.txt.')
    ]
  ];
  return (
    <>
      <Fault words={failure} onAgain={tryAgain} />
      {notes.map(note => (
        <p key={note}>{note}</p>
      ))}
      {forms
        .filter(([, text]) => text !== '')
        .map(([name, text, words, done]) => (
          <div key={name} className="jp-AcaiSections-line">
            <pre tabIndex={0} aria-label={name}>
              {text}
            </pre>
            <button
              type="button"
              className="jp-AcaiView-button"
              onClick={() => {
                copy(text, done);
              }}
            >
              {words}
            </button>
          </div>
        ))}
      <p role="status">{told}</p>
    </>
  );
}

/** A cell once its code is known; nothing before, as the line alone would be another job. */
function below(line: string, code: string | null): string {
  return code === null ? '' : `${line}\n${code.replace(/^\n/, '').trimEnd()}`;
}
