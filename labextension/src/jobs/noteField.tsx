import * as React from 'react';

import { asAcaiError } from '../core/connectionStore';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { Action } from '../views/action';

/**
 * A note that is changed where it stands: kept when somebody leaves the field, or presses Enter with Ctrl. When somebody
 * else writes another meanwhile, what is typed stays, and whoever typed it says which of the two is to be.
 */
export function NoteField(props: {
  label: string;
  /** The note as the page knows it now. */
  said: string;
  longest: number;
  /** Writes it in the place of another; rejects where there is a third. */
  onKeep: (text: string, before: string) => Promise<void>;
}): React.ReactElement {
  const { label, said, longest, onKeep } = props;
  const [text, setText] = React.useState(said);
  /** What was there when somebody began to type. */
  const [before, setBefore] = React.useState(said);
  const [failure, setFailure] = React.useState('');
  /** What is on its way, so that nobody is told of what they wrote themselves. */
  const [sent, setSent] = React.useState<string | null>(null);
  /** Written, and not answered yet. */
  const [flying, setFlying] = React.useState<string | null>(null);
  const [known, setKnown] = React.useState(said);
  if (known !== said) {
    setKnown(said);
    const isSaid = text === before || text.trim() === said;
    if (isSaid || said === sent) {
      setBefore(said);
      setFailure('');
    }
    if (isSaid) {
      setText(said);
    }
  }
  const isOther = text !== before && said !== before && said !== flying;
  const keep = (over: string) => {
    const words = text.trim();
    setSent(words);
    setFlying(words);
    const landed = () => {
      setFlying(now => (now === words ? null : now));
    };
    onKeep(words, over).then(
      () => {
        landed();
        setBefore(words);
        setFailure('');
      },
      (error: unknown) => {
        landed();
        setSent(null);
        setFailure(asAcaiError(error).message);
      }
    );
  };
  const keepIfTyped = () => {
    const words = text.trim();
    if (words !== before && words !== sent && !isOther) {
      keep(flying ?? before);
    }
  };
  return (
    <>
      <textarea
        className="jp-AcaiFilter-field jp-AcaiLabels-note"
        aria-label={label}
        placeholder={trans.__('a note')}
        rows={2}
        maxLength={longest}
        value={text}
        onChange={event => {
          setSent(null);
          setText(event.target.value);
        }}
        onBlur={keepIfTyped}
        onKeyDown={event => {
          if (event.key === 'Enter' && event.ctrlKey) {
            keepIfTyped();
          }
        }}
      />
      {(isOther || failure !== '') && (
        <p className="jp-AcaiView-error" role="alert">
          {failure ||
            (said === ''
              ? trans.__('Somebody took the note away meanwhile.')
              : trans.__("Somebody wrote meanwhile: '%1'.", oneLine(said)))}
        </p>
      )}
      {isOther && (
        <div role="group" aria-label={trans.__('%1, which of the two', label)}>
          <Action
            words={trans.__('write mine over it')}
            onClick={() => {
              keep(said);
            }}
          />
          <Action
            words={trans.__('take theirs')}
            onClick={() => {
              setText(said);
              setBefore(said);
              setFailure('');
            }}
          />
        </div>
      )}
    </>
  );
}
