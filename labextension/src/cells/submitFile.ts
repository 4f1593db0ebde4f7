import type { CommandRegistry } from '@lumino/commands';

import { quoted } from '../core/shellWords';
import { folderOf, relativePath } from '../core/specText';
import type { ICell, INotebook } from './notebook';
import { isOfPython, makeJob, newCell } from './runAsJob';

/** A notebook that a line can be written into, and how another is made. */
export interface INotebooks {
  commands: CommandRegistry;
  /** The one that was worked in last; null where there is none of Python. */
  last: INotebook | null;
  /** The one that is open at a path. */
  at: (path: string) => INotebook | null;
  /** What a new one runs in. */
  kernel: string;
}

/**
 * Write the line that submits a script or a notebook: below the active cell of the notebook that was worked in last, else into a
 * new one beside the script. Only a kernel knows what goes along with a program, so it is a kernel that submits.
 */
export async function writeSubmitLine(
  notebooks: INotebooks,
  path: string,
  project: string
): Promise<{ notebook: INotebook; cell: ICell } | null> {
  const { last } = notebooks;
  const notebook = canTake(last) ? last : await makeNotebook(notebooks, path);
  if (notebook === null) {
    return null;
  }
  await notebook.context.ready;
  const { content, context } = notebook;
  const source = submitLine(context.path, path, project);
  const active = content.activeCell;
  const isFree =
    active?.model.type === 'code' &&
    active.model.sharedModel.getSource().trim() === '';
  const at = content.activeCellIndex + 1;
  if (!isFree) {
    context.model.sharedModel.insertCell(at, newCell(''));
  }
  const cell = isFree ? active : (content.widgets[at] ?? null);
  if (cell?.model.type !== 'code') {
    return null;
  }
  makeJob(notebook, cell, source);
  content.activeCellIndex = content.widgets.indexOf(cell);
  return { notebook, cell };
}

/** The line of a notebook that submits a script; a name like an option is none when it is said where it is. */
export function submitLine(
  notebook: string,
  path: string,
  project: string
): string {
  const file = relativePath(folderOf(notebook), path);
  const script = quoted(file.startsWith('-') ? `./${file}` : file);
  const place = project === '' ? '' : ` --project ${project}`;
  return `%acai submit ${script}${place}`;
}

function canTake(notebook: INotebook | null): notebook is INotebook {
  return notebook !== null && isOfPython(notebook);
}

async function makeNotebook(
  { commands, at, kernel }: INotebooks,
  path: string
): Promise<INotebook | null> {
  const made = (await commands.execute('docmanager:new-untitled', {
    path: folderOf(path).replace(/\/$/, ''),
    type: 'notebook'
  })) as { path: string };
  await commands.execute('docmanager:open', {
    path: made.path,
    factory: 'Notebook',
    kernel: { name: kernel }
  });
  return at(made.path);
}
