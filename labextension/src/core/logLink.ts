/** A line of the log of an attempt of a job. */
export interface ILogPlace {
  job: number;
  attempt: number;
  line: number;
  /** Empty for the project that goes without saying. */
  project: string;
}

const NUMBER = /^[1-9]\d{0,14}$/;
const LONGEST_NAME = 200;

/** The page that opens a job's log at a line, from the address of the page without parameters. */
export function logLink(page: string, place: ILogPlace): string {
  const words = new URLSearchParams({
    'acai-job': String(place.job),
    'acai-attempt': String(place.attempt),
    'acai-line': String(place.line)
  });
  if (place.project !== '') {
    words.set('acai-project', place.project);
  }
  return `${page}?${words.toString()}`;
}

/** The place that the parameters of a page name. Anybody can write some: what is no place is none. */
export function placeIn(parameters: string): ILogPlace | null {
  const words = new URLSearchParams(parameters);
  const [job, line] = [words.get('acai-job'), words.get('acai-line')];
  const attempt = words.get('acai-attempt') ?? '0';
  const project = words.get('acai-project') ?? '';
  if (
    job === null ||
    line === null ||
    !NUMBER.test(job) ||
    !NUMBER.test(line) ||
    !(attempt === '0' || NUMBER.test(attempt)) ||
    project.length > LONGEST_NAME
  ) {
    return null;
  }
  return {
    job: Number(job),
    attempt: Number(attempt),
    line: Number(line),
    project
  };
}
