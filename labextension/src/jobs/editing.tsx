import * as React from 'react';

import type { IJob } from '../contract';
import { asAcaiError } from '../core/connectionStore';
import {
  type Attributes,
  type Change,
  expecting,
  seenAfter
} from '../core/expecting';
import type { AcaiError } from '../core/errors';
import { readTagLine } from '../core/tagLine';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { fullValue } from '../core/values';
import { Chips } from './chips';
import { NoteField } from './noteField';

/** The attribute that a person's own words on a job are kept in. */
export const NOTE = 'note';
/** What is longer is no value of an attribute. */
const LONGEST_NOTE = 500;

export interface IEditingProps {
  job: IJob;
  /** Changes the job, and returns when the page knows how it is now. */
  onChange: (change: Change) => Promise<void>;
}

/** Labels, attributes and a note of a job, changed where they stand. */
export function Editing(props: IEditingProps): React.ReactElement {
  const { job, onChange } = props;
  const attributes = Object.fromEntries(
    Object.entries(job.attributes ?? {}).filter(([key]) => key !== NOTE)
  );
  const kept = job.attributes?.[NOTE];
  const said = typeof kept === 'string' ? kept : '';
  return (
    <LabelsEditor
      tags={job.tags ?? []}
      attributes={attributes}
      onChange={onChange}
    >
      <NoteField
        label={trans.__('Note on job %1', job.number)}
        said={said}
        longest={LONGEST_NOTE}
        onKeep={(text, before) => {
          const change =
            text === '' ? { delete: [NOTE] } : { set: { [NOTE]: text } };
          const seen = before === '' && said === '' ? kept : before || null;
          return onChange(expecting(change, { [NOTE]: seen ?? null }));
        }}
      />
    </LabelsEditor>
  );
}

/** Labels and attributes of anything. What others wrote since they were shown is not written over: it is said. */
export function LabelsEditor(props: {
  tags: readonly string[];
  attributes: Attributes;
  /** Changes the thing, and returns when the page knows how it is now. */
  onChange: (change: Change) => Promise<void>;
  /** What else is changed here. */
  children?: React.ReactNode;
}): React.ReactElement {
  const { tags, attributes, onChange, children } = props;
  const [failure, setFailure] = React.useState('');
  const attempt = async (change: Change, seen: Attributes) => {
    try {
      await onChange(expecting(change, seen));
      setFailure('');
      return null;
    } catch (error) {
      const told = asAcaiError(error);
      setFailure(told.message);
      return told;
    }
  };
  return (
    <div data-lm-suppress-shortcuts="true">
      <Chips
        label={trans.__('Labels and attributes')}
        chips={[
          ...tags.map(label => ({
            key: `+${label}`,
            words: oneLine(label),
            name: trans.__('remove %1', oneLine(label)),
            onRemove: () => attempt({ remove_labels: [label] }, attributes)
          })),
          ...Object.entries(attributes).map(([key, value]) => {
            const words = `${oneLine(key)} ${fullValue(key, value)}`;
            return {
              key,
              words,
              name: trans.__('remove %1', words),
              onRemove: () => attempt({ delete: [key] }, attributes)
            };
          })
        ]}
      />
      <AddField attributes={attributes} onAdd={attempt} />
      {children}
      {failure !== '' && (
        <p className="jp-AcaiView-error" role="alert">
          {failure}
        </p>
      )}
    </div>
  );
}

/** The line stays until it is done. It is held against what stood there when somebody began to type it. */
function AddField(props: {
  attributes: Attributes;
  /** Returns why it was refused, null when it is done. */
  onAdd: (change: Change, seen: Attributes) => Promise<AcaiError | null>;
}): React.ReactElement {
  const { attributes, onAdd } = props;
  const [line, setLine] = React.useState('');
  const [fault, setFault] = React.useState('');
  const [seen, setSeen] = React.useState(attributes);
  const isBusy = React.useRef(false);
  const add = async () => {
    const read = readTagLine(line);
    setFault(read.fault);
    if (read.fault !== '' || isBusy.current) {
      return;
    }
    isBusy.current = true;
    const refused = await onAdd(read.change, seen);
    isBusy.current = false;
    if (refused === null) {
      setLine(now => (now === line ? '' : now));
    } else {
      setSeen(seenAfter(refused, seen));
    }
  };
  return (
    <>
      <input
        className="jp-AcaiFilter-field jp-AcaiLabels-field"
        aria-label={trans.__('Add labels and attributes')}
        aria-invalid={fault !== ''}
        // eslint-disable-next-line acai/untranslated -- as it is typed
        placeholder="stage=candidate +reviewed"
        value={line}
        onChange={event => {
          if (line === '') {
            setSeen(attributes);
          }
          setLine(event.target.value);
        }}
        onKeyDown={event => {
          if (event.key === 'Enter') {
            void add();
          }
        }}
      />
      {fault !== '' && (
        <span className="jp-AcaiView-error" role="alert">
          {fault}
        </span>
      )}
    </>
  );
}
