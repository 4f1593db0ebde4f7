import type { IDamageVerdict, IReportedFile } from '../contract';
import { AcaiError } from './errors';
import { trans } from './translation';

/** Reports files whose bytes could not be read, so that the server looks into its store. */
export interface IDamageSource {
  reportDamage(files: readonly IReportedFile[]): Promise<IDamageVerdict>;
}

/** The code of an object that ends before the bytes that were asked for. */
export const TOO_SHORT = 'object_too_short';
/** The code of bytes that do not have the hash of their file. */
export const HASH_MISMATCH = 'hash_mismatch';
/** What stores answer for an object that is missing, or shorter than recorded. */
const NOT_THERE = [400, 404, 410, 416];
/** The most files in one report. */
const REPORTED = 1_000;
/** The most files that one sentence names. */
const NAMED = 3;
const REPAIR = 'acai-server repair';
const DOCTOR = 'acai doctor';

/** The error of bytes that are not those of their file. */
export function wrongBytes(file: IReportedFile): AcaiError {
  return new AcaiError(HASH_MISMATCH, unreadable(file), 409);
}

/**
 * The error to show when the bytes of the first of these files could not be read. If the store may have lost or changed them, all
 * these files are reported first, and those that the server finds damaged are named. The network's failures are returned as they are.
 */
export async function explained(
  error: unknown,
  source: IDamageSource,
  files: readonly [IReportedFile, ...IReportedFile[]]
): Promise<unknown> {
  if (!(error instanceof AcaiError) || !mayBeDamage(error)) {
    return error;
  }
  const [read] = files;
  let damaged: readonly string[];
  try {
    ({ damaged } = await source.reportDamage(files.slice(0, REPORTED)));
  } catch {
    // The read failed anyway, whether or not the server can say why.
    damaged = [];
  }
  if (damaged.length === 0) {
    return new AcaiError(error.code, unreadable(read), error.status);
  }
  const own = nameOf(read);
  const first = damaged.filter(name => name === own);
  const others = damaged.filter(name => name !== own);
  return quarantined([...first, ...others]);
}

function mayBeDamage({ code, status }: AcaiError): boolean {
  return (
    code === TOO_SHORT || code === HASH_MISMATCH || NOT_THERE.includes(status)
  );
}

/** The same sentence as that of the Python client, so that both can be searched for. */
function quarantined(damaged: readonly string[]): AcaiError {
  const named = damaged
    .slice(0, NAMED)
    .map(name => `'${name}'`)
    .join(', ');
  const more = damaged.length - NAMED;
  const names =
    more > 0
      ? trans._n('%2 and %1 more file', '%2 and %1 more files', more, named)
      : named;
  const sentence = trans._n(
    'The stored bytes of %2 are damaged. Put a good copy of the file to heal it; %3 looks for other copies.',
    'The stored bytes of %2 are damaged. Put good copies of the files to heal them; %3 looks for other copies.',
    damaged.length,
    names,
    REPAIR
  );
  return new AcaiError('blob_quarantined', sentence, 409);
}

function unreadable(file: IReportedFile): string {
  return trans.__(
    "The stored bytes of '%1' are missing or wrong. Try again; %2 names the files that are known to be damaged.",
    nameOf(file),
    DOCTOR
  );
}

function nameOf({ path, version }: IReportedFile): string {
  return `${path}:${version}`;
}
