import * as React from 'react';

import { type ITagLine, readTagLine } from '../core/tagLine';

/** One line as `acai tag` takes it; Enter does it, Escape does not. What was typed stays until it is done. */
export function TagField(props: {
  label: string;
  onChange: (change: ITagLine['change']) => Promise<void>;
  onCancel: () => void;
}): React.ReactElement {
  const { label, onChange, onCancel } = props;
  const [line, setLine] = React.useState('');
  const [fault, setFault] = React.useState('');
  const field = React.useRef<HTMLInputElement>(null);
  const isBusy = React.useRef(false);
  React.useEffect(() => {
    field.current?.focus();
  }, []);
  const change = async () => {
    const read = readTagLine(line);
    setFault(read.fault);
    if (read.fault === '' && !isBusy.current) {
      isBusy.current = true;
      await onChange(read.change);
      isBusy.current = false;
    }
  };
  return (
    <>
      <input
        ref={field}
        className="jp-AcaiFilter-field"
        aria-label={label}
        aria-invalid={fault !== ''}
        // eslint-disable-next-line acai/untranslated -- as it is typed
        placeholder="stage=candidate +reviewed -old"
        value={line}
        onChange={event => {
          setLine(event.target.value);
        }}
        onKeyDown={event => {
          if (event.key === 'Enter') {
            void change();
          } else if (event.key === 'Escape') {
            event.stopPropagation();
            onCancel();
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
