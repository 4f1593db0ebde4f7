import type { ISettingRegistry } from '@jupyterlab/settingregistry';

/** What a person can choose about cells; the schema has the same defaults. */
export interface ICellSettings {
  /** Whether a cell that runs as a job has a bar. */
  bars: boolean;
  /** Which groups of options are open from the start. */
  openGroups: string[];
}

const DEFAULTS: ICellSettings = { bars: true, openGroups: ['data', 'machine'] };

/** What was chosen, as it is now. Without a registry the defaults hold. */
export class CellSettings {
  constructor(registry: ISettingRegistry | null) {
    registry?.load('acai-jupyter:cells').then(
      found => {
        const take = () => {
          this.chosen = { ...DEFAULTS, ...found.composite };
        };
        found.changed.connect(take);
        take();
      },
      () => {
        // The schema is not served where the extension runs from a folder.
      }
    );
  }

  get now(): ICellSettings {
    return this.chosen;
  }

  private chosen = DEFAULTS;
}
