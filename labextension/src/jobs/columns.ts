import type { ISettingRegistry } from '@jupyterlab/settingregistry';

const PLUGIN = 'acai-jupyter:jobs';
const NAME = 'columns';

/** What stands in the table until somebody has chosen; the schema has the same. */
const COLUMNS: readonly string[] = [
  'name',
  'state',
  'creator',
  'created_at',
  'billed_seconds',
  'cost_usd',
  'input',
  'output',
  'tags'
];

/** The columns that a person has chosen for the table of jobs, kept with the person's settings. */
export class ColumnChoice {
  constructor(private readonly registry: ISettingRegistry | null) {}

  async read(): Promise<readonly string[]> {
    try {
      const found = await this.registry?.get(PLUGIN, NAME);
      const kept = found?.composite;
      return Array.isArray(kept) && kept.every(one => typeof one === 'string')
        ? kept
        : COLUMNS;
    } catch {
      // The schema is not served where the extension runs from a folder.
      return COLUMNS;
    }
  }

  async write(columns: string[]): Promise<void> {
    try {
      await this.registry?.set(PLUGIN, NAME, columns);
    } catch (error) {
      console.warn('The columns could not be kept.', error);
    }
  }
}
