import * as React from 'react';

import type { IDrawing, IDrawnNode } from '../contract';
import {
  type IPart,
  isWay,
  moreOf,
  nodeBeside,
  nodeNearest,
  partOf,
  wholeName
} from '../core/drawnNodes';
import type { GraphExplorer } from '../core/graphExplorer';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { useSteadyScroll } from './steadyScroll';
import { parsedSvg } from './svg';

/** The node at which the keyboard is. */
export const NODE_STOP = '.jp-AcaiProvenance-node[tabindex="0"]';

/** The server's own drawing, which scrolls; over each node a button that selects it, and beside it what draws further. */
export function Picture(props: {
  drawing: IDrawing;
  explorer: GraphExplorer;
  zoom: number;
  scroller: React.RefObject<HTMLDivElement>;
}): React.ReactElement {
  const { drawing, explorer, zoom, scroller } = props;
  const place = React.useRef<HTMLDivElement>(null);
  React.useLayoutEffect(() => {
    const svg = parsedSvg(drawing.svg ?? '');
    place.current?.replaceChildren(
      ...(svg === null ? [] : [document.importNode(svg, true)])
    );
  }, [drawing]);
  useSteadyScroll(scroller, drawing, explorer, zoom);
  const nodes = drawing.nodes.filter(one => one.kind !== 'source');
  const [stop, setStop] = useStop(nodes, drawing, explorer);
  const group = React.useRef<HTMLDivElement>(null);
  const go = (event: React.KeyboardEvent) => {
    const next =
      stop !== null && isWay(event.key)
        ? nodeBeside(nodes, stop, event.key)
        : null;
    if (next !== null) {
      event.preventDefault();
      const buttons = group.current?.querySelectorAll<HTMLElement>('[data-id]');
      [...(buttons ?? [])].find(one => one.dataset.id === next.id)?.focus();
    }
  };
  return (
    <div ref={scroller} className="jp-AcaiProvenance-scroller">
      <div
        ref={group}
        className="jp-AcaiProvenance-drawing"
        role="group"
        aria-label={trans.__('graph; arrow keys go from node to node')}
        style={{ width: drawing.width * zoom, height: drawing.height * zoom }}
        onKeyDown={go}
      >
        <div ref={place} className="jp-AcaiProvenance-svg" />
        {nodes.map(node => (
          <NodeButtons
            key={node.id}
            node={node}
            drawing={drawing}
            explorer={explorer}
            isSelected={explorer.selected === node}
            isStop={stop === node}
            onStop={setStop}
          />
        ))}
      </div>
    </div>
  );
}

/** Where the Tab key stops among the nodes: where one was last, or what stands there instead; at first what is selected. */
function useStop(
  nodes: readonly IDrawnNode[],
  drawing: IDrawing,
  explorer: GraphExplorer
): [IDrawnNode | null, (node: IDrawnNode) => void] {
  const { layout, selected } = explorer;
  const since = `${layout} ${selected?.id ?? ''}`;
  const [last, setLast] = React.useState({ since: '', node: nodes[0] });
  const stood = last.since === since ? last.node : undefined;
  const stop =
    nodes.find(one => one.id === stood?.id) ??
    (stood === undefined ? undefined : nodeNearest(nodes, stood)) ??
    selected ??
    nodes.find(one => one.id === drawing.focus) ??
    nodes[0] ??
    null;
  return [
    stop,
    node => {
      setLast({ since, node });
    }
  ];
}

function NodeButtons(props: {
  node: IDrawnNode;
  drawing: IDrawing;
  explorer: GraphExplorer;
  isSelected: boolean;
  isStop: boolean;
  onStop: (node: IDrawnNode) => void;
}): React.ReactElement {
  const { node, drawing, explorer, isSelected, isStop, onStop } = props;
  const button = React.useRef<HTMLButtonElement>(null);
  React.useEffect(() => {
    if (isSelected) {
      button.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }
  }, [isSelected]);
  const shared = {
    type: 'button' as const,
    tabIndex: isStop ? 0 : -1,
    onFocus: () => {
      onStop(node);
    }
  };
  return (
    <>
      <button
        {...shared}
        ref={button}
        className="jp-AcaiProvenance-node"
        style={styleOf(partOf(node, drawing))}
        title={oneLine(node.about)}
        aria-label={oneLine(`${wholeName(node)}: ${node.about}`)}
        aria-current={node.id === drawing.focus ? 'true' : undefined}
        aria-pressed={isSelected}
        data-id={node.id}
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
          {...shared}
          key={more.direction}
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

function styleOf(part: IPart): React.CSSProperties {
  const percent = (value: number) => `${100 * value}%`;
  return {
    left: percent(part.left),
    top: percent(part.top),
    width: percent(part.width),
    height: percent(part.height)
  };
}
