import * as React from 'react';

import type { IDrawing, IDrawnNode } from '../contract';
import { type IPart, moreOf, partOf } from '../core/drawnNodes';
import type { GraphExplorer } from '../core/graphExplorer';
import { oneLine } from '../core/text';
import { parsedSvg } from './svg';

/** The server's own drawing, which scrolls; over each node a button that selects it, and beside it what draws further. */
export function Picture(props: {
  drawing: IDrawing;
  explorer: GraphExplorer;
  zoom: number;
}): React.ReactElement {
  const { drawing, explorer, zoom } = props;
  const place = React.useRef<HTMLDivElement>(null);
  React.useLayoutEffect(() => {
    const svg = parsedSvg(drawing.svg ?? '');
    place.current?.replaceChildren(
      ...(svg === null ? [] : [document.importNode(svg, true)])
    );
  }, [drawing]);
  const scroller = useSteadyScroll(drawing, explorer, zoom);
  const selected = explorer.selected;
  return (
    <div ref={scroller} className="jp-AcaiProvenance-scroller">
      <div
        className="jp-AcaiProvenance-drawing"
        style={{ width: drawing.width * zoom, height: drawing.height * zoom }}
      >
        <div ref={place} className="jp-AcaiProvenance-svg" />
        {drawing.nodes.map(node => (
          <NodeButtons
            key={node.id}
            node={node}
            drawing={drawing}
            explorer={explorer}
            isSelected={selected === node}
          />
        ))}
      </div>
    </div>
  );
}

function NodeButtons(props: {
  node: IDrawnNode;
  drawing: IDrawing;
  explorer: GraphExplorer;
  isSelected: boolean;
}): React.ReactElement | null {
  const { node, drawing, explorer, isSelected } = props;
  const button = React.useRef<HTMLButtonElement>(null);
  React.useEffect(() => {
    if (isSelected) {
      button.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }
  }, [isSelected]);
  if (node.kind === 'source') {
    return null;
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        className="jp-AcaiProvenance-node"
        style={styleOf(partOf(node, drawing))}
        title={oneLine(node.about)}
        aria-label={oneLine(`${node.label}: ${node.about}`)}
        aria-current={node.id === drawing.focus ? 'true' : undefined}
        aria-pressed={isSelected}
        data-acai-thing={node.thing === '' ? undefined : node.thing}
        data-acai-project={explorer.place.project}
        onClick={() => {
          if (node.kind === 'group') {
            void explorer.open(node.id, 'group');
          } else {
            explorer.select(node.id);
          }
        }}
        onDoubleClick={() => {
          if ((node.thing ?? '') !== '') {
            void explorer.show(node.thing ?? '');
          }
        }}
      />
      {moreOf(node, drawing).map(more => (
        <button
          key={more.direction}
          type="button"
          className="jp-AcaiProvenance-more"
          style={styleOf(more.part)}
          title={oneLine(`${more.words} (${more.count})`)}
          aria-label={oneLine(`+${more.count}: ${more.words}`)}
          onClick={() => void explorer.open(node.id, more.direction)}
        />
      ))}
    </>
  );
}

/** What is drawn further leaves what was there where it was on the screen; what is drawn anew has its middle in sight. */
function useSteadyScroll(
  drawing: IDrawing,
  explorer: GraphExplorer,
  zoom: number
): React.RefObject<HTMLDivElement> {
  const node = React.useRef<HTMLDivElement>(null);
  const before = React.useRef<{ drawing: IDrawing; layout: number } | null>(
    null
  );
  React.useLayoutEffect(() => {
    const last = before.current;
    before.current = { drawing, layout: explorer.layout };
    if (node.current === null || last?.drawing === drawing) {
      return;
    }
    if (last !== null && last.layout === explorer.layout) {
      node.current.scrollLeft += (last.drawing.left - drawing.left) * zoom;
      node.current.scrollTop += (last.drawing.top - drawing.top) * zoom;
    } else {
      const { clientWidth, clientHeight } = node.current;
      const isProject = drawing.focus === '';
      node.current.scrollLeft = isProject
        ? 0
        : -drawing.left * zoom - clientWidth / 2;
      node.current.scrollTop = isProject
        ? 0
        : -drawing.top * zoom - clientHeight / 2;
    }
  }, [drawing, explorer, zoom]);
  return node;
}

function styleOf(part: IPart): React.CSSProperties {
  const percent = (value: number) => `${100 * value}%`;
  return {
    left: percent(part.left),
    top: percent(part.top),
    width: percent(part.width),
    height: percent(part.height)
  };
}
