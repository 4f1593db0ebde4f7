import * as React from 'react';

/** A translated sentence in which elements stand in the places `%1`, `%2`…, which are left in `text`. */
export function Sentence(props: {
  text: string;
  parts: readonly React.ReactNode[];
}): React.ReactElement {
  const pieces = props.text.split(/%(\d+)/);
  return (
    <>
      {pieces.map((piece, at) => (
        <React.Fragment key={at}>
          {at % 2 === 0 ? piece : props.parts[Number(piece) - 1]}
        </React.Fragment>
      ))}
    </>
  );
}
