import type { ISettingRegistry } from '@jupyterlab/settingregistry';

/** What a person can choose about the overview; the schema has the same defaults. */
export interface IOverviewSettings {
  followAtStart: boolean;
  notifications: boolean;
}

const DEFAULTS: IOverviewSettings = {
  followAtStart: true,
  notifications: true
};

/** Read what was chosen, now and whenever it changes. Without a registry the defaults hold. */
export async function followSettings(
  registry: ISettingRegistry | null,
  onChange: (settings: IOverviewSettings) => void
): Promise<void> {
  try {
    const found = await registry?.load('acai-jupyter:overview');
    const tell = () => {
      onChange({ ...DEFAULTS, ...found?.composite });
    };
    found?.changed.connect(tell);
    tell();
  } catch {
    // The schema is not served where the extension runs from a folder.
    onChange(DEFAULTS);
  }
}
