import * as React from 'react';

import type { IKnownKey } from '../contract';
import { headingOf } from '../core/headings';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { Popover } from './popover';

export interface IColumnsMenuProps {
  columns: readonly string[];
  onColumns: (columns: string[]) => void;
  complete: (prefix: string) => Promise<IKnownKey[]>;
}

/** Which values of the jobs stand in the table: those that there are, found by their beginning. */
export function ColumnsMenu(props: IColumnsMenuProps): React.ReactElement {
  const { columns, onColumns, complete } = props;
  const [isOpen, setOpen] = React.useState(false);
  const [prefix, setPrefix] = React.useState('');
  const [keys, setKeys] = React.useState<IKnownKey[]>([]);
  React.useEffect(() => {
    if (!isOpen) {
      return;
    }
    let isWanted = true;
    complete(prefix).then(
      found => {
        if (isWanted) {
          setKeys(found.filter(one => one.source !== 'well_known'));
        }
      },
      () => undefined
    );
    return () => {
      isWanted = false;
    };
  }, [isOpen, prefix, complete]);
  const known = keys.map(one => one.key).filter(key => key !== 'number');
  const offered = [
    ...columns.filter(key =>
      [key, headingOf(key)].some(one => one.startsWith(prefix))
    ),
    ...known.filter(key => !columns.includes(key))
  ];
  return (
    <Popover words={trans.__('columns')} isOpen={isOpen} onOpen={setOpen}>
      <input
        type="search"
        className="jp-AcaiFilter-field"
        aria-label={trans.__('Columns that begin with')}
        placeholder={trans.__('find a column')}
        value={prefix}
        onChange={event => {
          setPrefix(event.target.value);
        }}
      />
      {offered.map(key => (
        <label key={key}>
          <input
            type="checkbox"
            checked={columns.includes(key)}
            onChange={() => {
              onColumns(
                columns.includes(key)
                  ? columns.filter(one => one !== key)
                  : [...columns, key]
              );
            }}
          />
          {headingOf(key)}
          {headingOf(key) !== key && <code>{oneLine(key)}</code>}
        </label>
      ))}
    </Popover>
  );
}
