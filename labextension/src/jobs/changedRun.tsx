import * as React from 'react';

import type { ICreateJob, IJob } from '../contract';
import {
  BadField,
  changedRequest,
  DRAFT_FIELDS,
  type DraftField,
  draftOf,
  type IDraft
} from '../core/changedRun';
import { asAcaiError } from '../core/connectionStore';
import { trans } from '../core/translation';
import { Action } from '../views/action';

export interface IChangedRunProps {
  request: ICreateJob;
  submit: (request: ICreateJob) => Promise<IJob>;
  onOpen: (job: number) => void;
}

interface IFault {
  field: DraftField | null;
  words: string;
}

/** The same job once more, with other values where somebody types some. Its code and environment are the same. */
export function ChangedRun(props: IChangedRunProps): React.ReactElement {
  const { request, submit, onOpen } = props;
  const [draft, setDraft] = React.useState<IDraft>(() => draftOf(request));
  const [fault, setFault] = React.useState<IFault | null>(null);
  /** What was submitted last, or is on its way: once, until somebody types. */
  const [sent, setSent] = React.useState<IDraft | null>(null);
  const [made, setMade] = React.useState<number | null>(null);
  const id = React.useId();
  const send = async () => {
    setFault(null);
    setMade(null);
    setSent(draft);
    try {
      setMade((await submit(changedRequest(request, draft))).number);
    } catch (error) {
      setSent(now => (now === draft ? null : now));
      setFault(
        error instanceof BadField
          ? { field: error.field, words: error.message }
          : { field: null, words: asAcaiError(error).message }
      );
    }
  };
  return (
    <form
      className="jp-AcaiSections-form"
      aria-label={trans.__('Run again with changes')}
      data-lm-suppress-shortcuts="true"
      onSubmit={event => {
        event.preventDefault();
        if (sent !== draft) {
          void send();
        }
      }}
    >
      {DRAFT_FIELDS.map(field => (
        <Field
          key={field}
          id={`${id}-${field}`}
          field={field}
          value={draft[field]}
          fault={fault?.field === field ? fault.words : ''}
          onChange={value => {
            setDraft({ ...draft, [field]: value });
          }}
        />
      ))}
      {fault?.field === null && (
        <p className="jp-AcaiView-error" role="alert">
          {fault.words}
        </p>
      )}
      <button
        type="submit"
        className="jp-AcaiView-button"
        data-loud=""
        aria-disabled={sent === draft}
      >
        {trans.__('run with these values')}
      </button>
      <span role="status">
        {made === null ? '' : trans.__('job %1 was submitted', made)}
      </span>
      {made !== null && (
        <Action
          words={trans.__('open job %1', made)}
          onClick={() => {
            onOpen(made);
          }}
        />
      )}
    </form>
  );
}

function Field(props: {
  id: string;
  field: DraftField;
  value: string;
  fault: string;
  onChange: (value: string) => void;
}): React.ReactElement {
  const { id, field, value, fault, onChange } = props;
  const shared = {
    id,
    value,
    'aria-invalid': fault !== '',
    'aria-describedby': fault === '' ? undefined : `${id}-fault`,
    onChange: (
      event: React.ChangeEvent<HTMLInputElement | HTMLTextAreaElement>
    ) => {
      onChange(event.currentTarget.value);
    }
  };
  const isLong = field === 'inputs' || field === 'parameters';
  return (
    <>
      <label htmlFor={id}>{labelOf(field)}</label>
      <div>
        {isLong ? (
          <textarea {...shared} rows={Math.max(2, value.split('\n').length)} />
        ) : (
          <input type="text" {...shared} />
        )}
        {fault !== '' && (
          <p id={`${id}-fault`} className="jp-AcaiView-error" role="alert">
            {fault}
          </p>
        )}
      </div>
    </>
  );
}

function labelOf(field: DraftField): string {
  switch (field) {
    case 'name':
      return trans.__('name');
    case 'inputs':
      return trans.__('inputs, one on each line');
    case 'parameters':
      return trans.__('parameters, NAME=VALUE on each line');
    case 'output':
      return trans.__('output');
    case 'cpu':
      return trans.__('vCPU');
    case 'memory':
      return trans.__('memory, like 512Mi');
    case 'timeLimit':
      return trans.__('time limit, like 20m');
  }
}
