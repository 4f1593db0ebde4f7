import * as React from 'react';

import type { FileTree, ITreeRow } from '../core/fileTree';
import { formatSize } from '../core/format';
import { fileSpec, folderOf } from '../core/specText';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { bringRowIntoView, useVisibleRows } from './visibleRows';

/** The height of a row, as the style sheet has it. */
const ROW_PX = 24;

export interface ITreeViewProps {
  tree: FileTree;
  name: string;
  chosen: ReadonlySet<string>;
  /** The folder into which something would go that is dragged over it. */
  over?: string | null;
  onChoose: (paths: ReadonlySet<string>) => void;
  onOpen: (row: ITreeRow) => void;
  /** What a row is called where it is dragged or asked about. */
  onDrag?: (row: ITreeRow, data: DataTransfer) => void;
}

/** Any number of files as a tree of which only what can be seen is there. One stop of the Tab key; arrows move in it. */
export function TreeView(props: ITreeViewProps): React.ReactElement {
  const { tree, name, chosen } = props;
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => tree.subscribe(again), [tree]);
  const { rows } = tree;
  const box = React.useRef<HTMLDivElement>(null);
  const [first, last] = useVisibleRows(box, ROW_PX, (from, to) => {
    tree.want(from, to);
  });
  const [active, setActive] = React.useState(0);
  const here = Math.max(0, Math.min(active, rows.length - 1));
  const id = React.useId();
  React.useEffect(() => {
    tree.want(first, last);
  }, [tree, rows, first, last]);
  const move = (to: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setActive(next);
    bringRowIntoView(box.current, next, ROW_PX);
  };
  return (
    <div
      className="jp-AcaiTree"
      ref={box}
      data-over={props.over === '/' ? '' : undefined}
    >
      <div
        role="tree"
        aria-label={name}
        aria-multiselectable="true"
        aria-activedescendant={rows.length > 0 ? `${id}-${here}` : undefined}
        tabIndex={0}
        data-lm-suppress-shortcuts="true"
        style={{ height: rows.length * ROW_PX }}
        onKeyDown={event => {
          press(event, { ...props, rows, here, move });
        }}
      >
        {rows.slice(first, last).map((row, at) => (
          <Row
            key={`${row.path}${row.child === null ? '…' : ''}`}
            {...props}
            id={`${id}-${first + at}`}
            row={row}
            index={first + at}
            isActive={first + at === here}
            isChosen={row.child !== null && chosen.has(row.path)}
            onClick={event => {
              setActive(first + at);
              click(event, row, { ...props, rows, here });
            }}
          />
        ))}
      </div>
    </div>
  );
}

interface IPressed extends ITreeViewProps {
  rows: readonly ITreeRow[];
  here: number;
}

function press(
  event: React.KeyboardEvent,
  at: IPressed & { move: (to: number) => void }
): void {
  const { rows, here, tree, move } = at;
  const row = rows[here];
  const page = 20;
  const moves: { [key: string]: number } = {
    ArrowDown: here + 1,
    ArrowUp: here - 1,
    PageDown: here + page,
    PageUp: here - page,
    Home: 0,
    End: rows.length - 1
  };
  const to = moves[event.key];
  if (to !== undefined) {
    move(to);
  } else if (row === undefined) {
    return;
  } else if (event.key === 'ArrowRight' && isFolder(row) && !row.isOpen) {
    void tree.open(row.path);
  } else if (event.key === 'ArrowRight') {
    move(here + 1);
  } else if (event.key === 'ArrowLeft' && row.isOpen) {
    tree.close(row.path);
  } else if (event.key === 'ArrowLeft') {
    const above = rows.slice(0, here).map(one => one.depth);
    move(Math.max(0, above.lastIndexOf(row.depth - 1)));
  } else if (event.key === 'Enter') {
    enter(row, at);
  } else if (event.key === ' ') {
    toggle(row, at);
  } else {
    return;
  }
  event.preventDefault();
}

/** A click chooses one, with Ctrl one more, with Shift all from the last one on; a folder opens besides. */
function click(event: React.MouseEvent, row: ITreeRow, at: IPressed): void {
  const { rows, here, onChoose } = at;
  if (row.child === null) {
    enter(row, at);
  } else if (event.shiftKey) {
    const there = rows.indexOf(row);
    const [from, to] = [Math.min(here, there), Math.max(here, there)];
    const between = rows.slice(from, to + 1).filter(one => one.child !== null);
    onChoose(new Set([...at.chosen, ...between.map(one => one.path)]));
  } else if (event.ctrlKey || event.metaKey) {
    toggle(row, at);
  } else {
    onChoose(new Set([row.path]));
    if (isFolder(row)) {
      enter(row, at);
    }
  }
}

function toggle(row: ITreeRow, at: IPressed): void {
  if (row.child === null) {
    enter(row, at);
    return;
  }
  const { chosen, onChoose } = at;
  const next = new Set(chosen);
  if (!next.delete(row.path)) {
    next.add(row.path);
  }
  onChoose(next);
}

function enter(row: ITreeRow, { tree, onOpen }: IPressed): void {
  if (row.child === null) {
    void tree.askAgain(row.path);
  } else if (!isFolder(row)) {
    onOpen(row);
  } else if (row.isOpen) {
    tree.close(row.path);
  } else {
    void tree.open(row.path);
  }
}

function isFolder(row: ITreeRow): boolean {
  return row.child?.kind === 'folder';
}

function Row(
  props: ITreeViewProps & {
    id: string;
    row: ITreeRow;
    index: number;
    isActive: boolean;
    isChosen: boolean;
    onClick: (event: React.MouseEvent) => void;
  }
): React.ReactElement {
  const { id, row, index, isActive, isChosen, onClick, onOpen, onDrag } = props;
  const { child, depth } = row;
  const folder = isFolder(row);
  const thing =
    child === null || folder
      ? undefined
      : fileSpec(row.path, child.version ?? 1);
  return (
    <div
      id={id}
      role="treeitem"
      className="jp-AcaiTree-row"
      aria-level={depth + 1}
      aria-expanded={folder ? row.isOpen : undefined}
      aria-selected={isChosen}
      data-active={isActive ? '' : undefined}
      data-over={row.path === props.over && child !== null ? '' : undefined}
      data-acai-file={thing}
      data-acai-folder={folder ? row.path : folderOf(row.path)}
      style={{ top: index * ROW_PX, paddingLeft: 8 + depth * 14 }}
      title={oneLine(row.path)}
      draggable={onDrag !== undefined && child !== null}
      onDragStart={event => onDrag?.(row, event.dataTransfer)}
      onClick={onClick}
      onDoubleClick={() => {
        if (thing !== undefined) {
          onOpen(row);
        }
      }}
    >
      <span className="jp-AcaiTree-mark" aria-hidden="true">
        {folder ? (row.isOpen ? '▾' : '▸') : ''}
      </span>
      <span className="jp-AcaiTree-name">
        {child === null ? restOf(row) : oneLine(row.name)}
        {folder && '/'}
      </span>
      {thing !== undefined && (
        <span className="jp-AcaiTree-facts">
          {trans.__(
            'v%1 · %2',
            child?.version ?? 1,
            formatSize(child?.size_bytes ?? 0)
          )}
        </span>
      )}
    </div>
  );
}

/** What stands for what is not there yet. */
function restOf(row: ITreeRow): string {
  return row.isRefused ? trans.__('ask again') : trans.__('Asking…');
}
