import type { ICreateJob } from '../contract';
import type { DataClient } from './dataClient';
import { AcaiError } from './errors';
import type { PreviewReader } from './previews';
import { encodePath } from './specText';
import { trans } from './translation';

/** Reads files of the code that jobs ran. */
export class CodeFiles {
  constructor(
    private readonly files: Pick<DataClient, 'files' | 'project'>,
    private readonly reader: Pick<PreviewReader, 'whole'>
  ) {}

  /** The text of a file, by its place in the folder that the job ran in. */
  async read({ code, code_root: root }: ICreateJob, file: string) {
    const path = `${(root ?? '/').replace(/\/$/, '')}/${file}`;
    const spec = `${encodePath(path)}@${code ?? ''}`;
    const found = (await this.files.files(spec, '')).entries[0];
    if (found === undefined) {
      throw new AcaiError(
        'file_not_found',
        trans.__('There is no such file.'),
        404
      );
    }
    const { bytes } = await this.reader.whole({
      project: this.files.project(),
      path: found.path,
      version: found.version,
      part: 1
    });
    return new TextDecoder().decode(bytes);
  }
}
