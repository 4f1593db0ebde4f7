import type {
  IDrawGraph,
  IDrawing,
  IFindThings,
  IFoundPage,
  IMetadata,
  IThingChange
} from '../contract';

/** Where graphs come from, and what is known of the things in them. */
export interface IGraphSource {
  draw(request: IDrawGraph, project: string): Promise<IDrawing>;
  metadata(thing: string, project: string): Promise<IMetadata>;
  change(change: IThingChange, project: string): Promise<unknown>;
  /** The file set or job that a text names best; empty where it names none. */
  find(text: string, project: string): Promise<string>;
}

/** So many of what has a text in its name are looked at for the best. */
const MOST = 100;
const SPEC = /^(.+):(\d+)$/;
const JOB = /^(?:job\s*)?(\d+)$/i;

/** Ask for what a text names: the newest version of a file set or the one it says, else a job by its number or name. */
export async function findThing(
  ask: (request: IFindThings) => Promise<IFoundPage>,
  text: string
): Promise<string> {
  const [, name = text, version = ''] = SPEC.exec(text) ?? [];
  const which = version === '' ? 'latest = true' : `version = ${version}`;
  const sets = await ask({
    kind: 'file_set',
    // eslint-disable-next-line acai/untranslated -- the query language
    query: `name ~ ${anywhere(name)} and ${which}`,
    limit: MOST
  });
  const found = bestOf(
    sets.rows.map(one => one.thing),
    name
  );
  if (found !== '') {
    return found;
  }
  const number = JOB.exec(text)?.[1];
  const { rows } = await ask({
    kind: 'job',
    query:
      number === undefined ? `name ~ ${anywhere(text)}` : `number = ${number}`,
    limit: 1
  });
  return rows[0]?.thing ?? '';
}

/** What has the very name, else what begins with it, else what has it within. */
function bestOf(specs: readonly string[], name: string): string {
  const wanted = name.toLowerCase();
  const isCalled = (spec: string) =>
    spec.slice(0, spec.lastIndexOf(':')).toLowerCase() === wanted;
  return (
    specs.find(isCalled) ??
    specs.find(spec => spec.toLowerCase().startsWith(wanted)) ??
    specs[0] ??
    ''
  );
}

/** A text of the query language: the regular expression that finds just this anywhere, in any case. */
function anywhere(text: string): string {
  const literal = text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return `'(?i)${literal.replaceAll("'", "''")}'`;
}
