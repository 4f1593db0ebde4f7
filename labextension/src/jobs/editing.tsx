import * as React from 'react';

import type { IJob, IThingChange } from '../contract';
import { asAcaiError } from '../core/connectionStore';
import { readTagLine } from '../core/tagLine';
import { oneLine } from '../core/text';
import { formatValue, type Value } from '../core/values';

/** The attribute that a person's own words on a job are kept in. */
export const NOTE = 'note';
/** What is longer is no value of an attribute. */
const LONGEST_NOTE = 500;

export interface IEditingProps {
  job: IJob;
  /** Changes the job, and returns when the page knows how it is now. */
  onChange: (change: Omit<IThingChange, 'thing'>) => Promise<void>;
}

/** Labels, attributes and a note of a job, changed where they stand. */
export function Editing(props: IEditingProps): React.ReactElement {
  const { job, onChange } = props;
  const attributes = Object.fromEntries(
    Object.entries(job.attributes ?? {}).filter(([key]) => key !== NOTE)
  );
  return (
    <LabelsEditor
      tags={job.tags ?? []}
      attributes={attributes}
      onChange={onChange}
    >
      {change => (
        <Note
          job={job}
          onKeep={text => {
            change(
              text === '' ? { delete: [NOTE] } : { set: { [NOTE]: text } }
            );
          }}
        />
      )}
    </LabelsEditor>
  );
}

type Change = Omit<IThingChange, 'thing'>;

/** Labels and attributes of anything. */
export function LabelsEditor(props: {
  tags: readonly string[];
  attributes: { readonly [key: string]: Value };
  onChange: (change: Change) => Promise<void>;
  /** What else is changed here, in the same way. */
  children?: (change: (change: Change) => void) => React.ReactNode;
}): React.ReactElement {
  const { tags, attributes, onChange, children } = props;
  const [failure, setFailure] = React.useState('');
  const attempt = (change: Change) => {
    onChange(change).then(
      () => {
        setFailure('');
      },
      (error: unknown) => {
        setFailure(asAcaiError(error).message);
      }
    );
  };
  return (
    <div data-lm-suppress-shortcuts="true">
      <ul className="jp-AcaiLabels" aria-label="Labels and attributes">
        {tags.map(label => (
          <Chip
            key={`+${label}`}
            words={oneLine(label)}
            onRemove={() => {
              attempt({ remove_labels: [label] });
            }}
          />
        ))}
        {Object.entries(attributes).map(([key, value]) => (
          <Chip
            key={key}
            words={`${oneLine(key)} ${formatValue(key, value)}`}
            onRemove={() => {
              attempt({ delete: [key] });
            }}
          />
        ))}
      </ul>
      <AddField onAdd={attempt} />
      {children?.(attempt)}
      {failure !== '' && (
        <p className="jp-AcaiView-error" role="alert">
          {failure}
        </p>
      )}
    </div>
  );
}

function Chip(props: {
  words: string;
  onRemove: () => void;
}): React.ReactElement {
  const { words, onRemove } = props;
  return (
    <li>
      {words}
      <button type="button" aria-label={`remove ${words}`} onClick={onRemove}>
        ×
      </button>
    </li>
  );
}

function AddField(props: {
  onAdd: (change: Omit<IThingChange, 'thing'>) => void;
}): React.ReactElement {
  const [line, setLine] = React.useState('');
  const [fault, setFault] = React.useState('');
  return (
    <>
      <input
        className="jp-AcaiFilter-field jp-AcaiLabels-field"
        aria-label="Add labels and attributes"
        aria-invalid={fault !== ''}
        placeholder="stage=candidate +reviewed"
        value={line}
        onChange={event => {
          setLine(event.target.value);
        }}
        onKeyDown={event => {
          if (event.key !== 'Enter') {
            return;
          }
          const read = readTagLine(line);
          setFault(read.fault);
          if (read.fault === '') {
            props.onAdd(read.change);
            setLine('');
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

/** It is kept when somebody leaves the field, or presses Enter with Ctrl. */
function Note(props: {
  job: IJob;
  onKeep: (text: string) => void;
}): React.ReactElement {
  const { job, onKeep } = props;
  const kept = job.attributes?.[NOTE];
  const said = typeof kept === 'string' ? kept : '';
  const [text, setText] = React.useState(said);
  React.useEffect(() => {
    setText(said);
  }, [said]);
  const keep = () => {
    if (text.trim() !== said) {
      onKeep(text.trim());
    }
  };
  return (
    <textarea
      className="jp-AcaiFilter-field jp-AcaiLabels-note"
      aria-label={`Note on job ${job.number}`}
      placeholder="a note"
      rows={2}
      maxLength={LONGEST_NOTE}
      value={text}
      onChange={event => {
        setText(event.target.value);
      }}
      onBlur={keep}
      onKeyDown={event => {
        if (event.key === 'Enter' && event.ctrlKey) {
          keep();
        }
      }}
    />
  );
}
