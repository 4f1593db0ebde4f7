import * as React from 'react';

import { type JobForm, takesSeveral } from '../core/jobForm';
import { isOffered } from '../core/optionOffers';
import type { IRunOption } from '../core/runLine';
import { trans } from '../core/translation';
import { OfferedField } from './offeredField';

/** One option: its name, its value, what it is for, and what is wrong with it. */
export function Field(props: {
  form: JobForm;
  option: IRunOption;
}): React.ReactElement {
  const { form, option } = props;
  const id = React.useId();
  const fault = form.fault(option.name);
  const isFlag = option.words === 'none';
  return (
    <div className="jp-AcaiForm-field" data-flag={isFlag ? '' : undefined}>
      <label htmlFor={id}>{option.name}</label>
      <Value
        {...props}
        id={id}
        describedBy={`${id}-help${fault === '' ? '' : ` ${id}-fault`}`}
        isWrong={fault !== ''}
      />
      <p id={`${id}-help`} className="jp-AcaiForm-help">
        {helpOf(option)}
      </p>
      {fault !== '' && (
        <p id={`${id}-fault`} className="jp-AcaiForm-fault" role="alert">
          {fault}
        </p>
      )}
    </div>
  );
}

function Value(props: {
  form: JobForm;
  option: IRunOption;
  id: string;
  describedBy: string;
  isWrong: boolean;
}): React.ReactElement {
  const { form, option, id, describedBy, isWrong } = props;
  const common = {
    id,
    'aria-describedby': describedBy,
    'aria-invalid': isWrong
  };
  if (option.words === 'none') {
    return (
      <input
        {...common}
        type="checkbox"
        checked={form.isOn(option)}
        onChange={event => {
          form.turn(option, event.target.checked);
        }}
      />
    );
  }
  const text = form.text(option);
  const field = {
    ...common,
    value: text,
    spellCheck: false,
    autoComplete: 'off',
    placeholder: takesSeveral(option) ? option.metavar : option.default,
    onChange: (
      event: React.ChangeEvent<HTMLInputElement | HTMLTextAreaElement>
    ) => {
      form.edit(option, event.target.value);
    }
  };
  const shown = takesSeveral(option) ? (
    <textarea {...field} rows={text.split('\n').length} />
  ) : (
    <input {...field} type="text" />
  );
  return isOffered(option.name) ? (
    <OfferedField form={form} option={option}>
      {shown}
    </OfferedField>
  ) : (
    shown
  );
}

function helpOf(option: IRunOption): string {
  // eslint-disable-next-line acai/sayable -- the table of options has its sentences
  const help = trans.__(option.help.replace(/; can be repeated$/, ''));
  return takesSeveral(option) ? trans.__('%1; one on each line', help) : help;
}
