import type {
  IDrawGraph,
  IDrawing,
  IFindThings,
  IFoundPage,
  IMetadata,
  IThingChange
} from '../contract';
import { written } from './queryText';

/** Where graphs come from, and what is known of the things in them. */
export interface IGraphSource {
  draw(request: IDrawGraph, project: string): Promise<IDrawing>;
  metadata(thing: string, project: string): Promise<IMetadata>;
  change(change: IThingChange, project: string): Promise<unknown>;
  /** The file set or job that a text names best; empty where it names none. */
  find(text: string, project: string): Promise<string>;
}

const SPEC = /^(.+):(\d+)$/;
const JOB = /^(?:job\s*)?(\d+)$/i;

type IWanted = Required<Pick<IFindThings, 'kind' | 'query'>>;

/** Ask for what a text names: what is called just so before what begins so, and that before what has it within. */
export async function findThing(
  ask: (request: IFindThings) => Promise<IFoundPage>,
  text: string
): Promise<string> {
  for (const wanted of meanings(text)) {
    const { rows } = await ask({ ...wanted, limit: 1 });
    const [found] = rows;
    if (found !== undefined) {
      return found.thing;
    }
  }
  return '';
}

/** The newest version of a file set or the one that is said, or a job by its number or name; the best first. */
function meanings(text: string): IWanted[] {
  const [, name = text, version = ''] = SPEC.exec(text) ?? [];
  const which = version === '' ? 'latest = true' : `version = ${version}`;
  const number = JOB.exec(text)?.[1];
  /* eslint-disable acai/untranslated -- the query language */
  const set = (condition: string): IWanted => ({
    kind: 'file_set',
    query: `name ${condition} and ${which}`
  });
  const job = (query: string): IWanted => ({ kind: 'job', query });
  return [
    set(`= ${written(name)}`),
    job(
      number === undefined ? `name = ${written(text)}` : `number = ${number}`
    ),
    set(`~ ${inAnyCase(`^${literally(name)}$`)}`),
    set(`~ ${inAnyCase(`^${literally(name)}`)}`),
    set(`~ ${inAnyCase(literally(name))}`),
    ...(number === undefined
      ? [job(`name ~ ${inAnyCase(literally(text))}`)]
      : [])
  ];
  /* eslint-enable acai/untranslated */
}

function inAnyCase(pattern: string): string {
  return written(`(?i)${pattern}`);
}

/** The regular expression that finds just this. */
function literally(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
