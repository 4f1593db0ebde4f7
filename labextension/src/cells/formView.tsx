import * as React from 'react';

import { type JobForm, WHOLE } from '../core/jobForm';
import type { IRunOption } from '../core/runLine';
import { trans } from '../core/translation';
import { Action } from '../views/action';
import { Field } from './formField';
import type { IFormSurroundings } from './formWidget';
import { PlanCard } from './planCard';

/** All that a line can say of a job, and what would happen. */
export function FormView(
  props: IFormSurroundings & {
    /** Called with the form when it is in the page, before anything else can happen there. */
    onShown?: React.RefCallback<HTMLElement>;
  }
): React.ReactElement {
  const { form, ran, question, kernel, openGroups, onShown } = props;
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => form.subscribe(again), [form]);
  React.useEffect(() => ran?.subscribe(again), [ran]);
  React.useEffect(() => question.subscribe(again), [question]);
  return (
    <section ref={onShown} aria-label={trans.__("options of the cell's job")}>
      <div className="jp-AcaiForm-parts">
        <div className="jp-AcaiForm-options">
          {groupsOf(form.options).map(([title, options]) => (
            <Group
              key={title}
              title={title}
              form={form}
              options={options}
              isOpen={openGroups.includes(title)}
            />
          ))}
        </div>
        <PlanCard form={form} kernel={kernel()} />
      </div>
      <Actions {...props} />
    </section>
  );
}

/** By what belongs together, in the order of the table. */
function groupsOf(options: readonly IRunOption[]): [string, IRunOption[]][] {
  const found = new Map<string, IRunOption[]>();
  for (const option of options) {
    found.set(option.group, [...(found.get(option.group) ?? []), option]);
  }
  return [...found];
}

function Group(props: {
  title: string;
  form: JobForm;
  options: readonly IRunOption[];
  isOpen: boolean;
}): React.ReactElement {
  const { title, form, options } = props;
  const count = options.filter(one => form.isOn(one)).length;
  const [isOpen, setOpen] = React.useState(props.isOpen || count > 0);
  const isWrong = options.some(one => form.fault(one.name) !== '');
  return (
    <details
      className="jp-AcaiForm-group"
      open={isOpen || isWrong}
      onToggle={event => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary>
        {/* eslint-disable-next-line acai/sayable -- the table of options has its sentences */}
        {trans.__(title)}
        {count > 0 && !isOpen && (
          <span className="jp-AcaiForm-count">
            {` · ${trans._n('%1 given', '%1 given', count)}`}
          </span>
        )}
      </summary>
      <div className="jp-AcaiForm-fields">
        {options.map(option => (
          <Field key={option.name} form={form} option={option} />
        ))}
      </div>
    </details>
  );
}

function Actions(props: IFormSurroundings): React.ReactElement {
  const { form, question, onClose } = props;
  const fault = form.fault(WHOLE);
  const [wasRefused, setRefused] = React.useState(false);
  const whenReady = (act: () => void) => () => {
    setRefused(!form.isReady);
    if (form.isReady) {
      act();
    } else {
      question.decline();
      form.askSoon();
    }
  };
  return (
    <div className="jp-AcaiForm-actions">
      {question.isOpen ? (
        <>
          <Action
            key="sure"
            words={trans.__('it runs already, run it once more')}
            isLoud
            onClick={whenReady(() => {
              question.confirm();
            })}
          />
          <Action
            key="not"
            words={trans.__('do not')}
            takesFocus
            onClick={() => {
              question.decline();
            }}
          />
        </>
      ) : (
        <button
          key="run"
          type="button"
          className="jp-AcaiForm-run"
          aria-label={trans.__('Run the cell as a job')}
          autoFocus={question.wasAnswered}
          onClick={whenReady(() => {
            question.press();
          })}
        >
          {' '}
          {trans.__('Run')}{' '}
        </button>
      )}
      <Action
        words={trans.__('Close')}
        name={trans.__('Close the options')}
        onClick={onClose}
      />
      {fault !== '' && (
        <p className="jp-AcaiForm-fault" role="alert">
          {fault}
        </p>
      )}
      {wasRefused && !form.isReady && fault === '' && (
        <p className="jp-AcaiForm-fault" role="alert">
          {trans.__('Nothing was run: first correct what is marked.')}
        </p>
      )}
    </div>
  );
}
