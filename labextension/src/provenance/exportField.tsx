import * as React from 'react';

import type { IDrawing, IExportFormat } from '../contract';
import { asAcaiError } from '../core/connectionStore';
import { setInTheMiddle } from '../core/drawnNodes';
import { trans } from '../core/translation';
import { download, pngOf, svgOf } from './files';

/** What one can take away: the drawing as a picture, and as data what the set in its middle was made of, or the whole project. */
const PICTURES = ['svg', 'png'] as const;
const DATA: readonly (readonly [IExportFormat, string])[] = [
  ['json', 'json'],
  ['dot', 'dot'],
  ['graphml', 'graphml'],
  ['prov', 'prov.json'],
  ['openlineage', 'openlineage.ndjson']
];

export function ExportField(props: {
  drawing: IDrawing;
  /** Empty for a project. */
  focus: string;
  /** Of a file set, or without one of the project, which there is as JSON. */
  onExport: (format: IExportFormat, ref: string) => Promise<string>;
}): React.ReactElement {
  const { drawing, focus, onExport } = props;
  const [chosen, setChosen] = React.useState('svg');
  const [failure, setFailure] = React.useState('');
  const ref = setInTheMiddle(drawing);
  const isThere = ([format]: readonly [IExportFormat, string]) =>
    ref !== '' || (focus === '' && format === 'json');
  const data = DATA.filter(isThere);
  const missing = DATA.filter(one => !isThere(one));
  const format = data.find(([one]) => one === chosen);
  const name = `provenance-${(focus || 'project').replaceAll(/[^\w.-]+/g, '-')}`;
  const save = async () => {
    const svg = drawing.svg ?? '';
    if (format !== undefined) {
      const text = await onExport(format[0], ref);
      download(`${name}.${format[1]}`, new Blob([text]));
    } else if (chosen === 'png') {
      download(`${name}.png`, await pngOf(svg));
    } else {
      download(`${name}.svg`, svgOf(svg));
    }
  };
  return (
    <span role="group" aria-label={trans.__('export')}>
      <select
        className="jp-AcaiView-select"
        aria-label={trans.__('Format')}
        value={format === undefined && chosen !== 'png' ? 'svg' : chosen}
        onChange={event => {
          setChosen(event.target.value);
        }}
      >
        {[...PICTURES, ...data.map(([one]) => one)].map(one => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
        {missing.length > 0 && (
          <optgroup label={trans.__('with a file set in the middle:')} disabled>
            {missing.map(([one]) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </optgroup>
        )}
      </select>
      <button
        type="button"
        className="jp-AcaiView-button"
        onClick={() => {
          save().then(
            () => {
              setFailure('');
            },
            (error: unknown) => {
              setFailure(asAcaiError(error).message);
            }
          );
        }}
      >
        {' '}
        {trans.__('export')}{' '}
      </button>
      {failure !== '' && (
        <span className="jp-AcaiView-error" role="alert">
          {failure}
        </span>
      )}
    </span>
  );
}
