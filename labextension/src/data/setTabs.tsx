import { MainAreaWidget } from '@jupyterlab/apputils';
import * as React from 'react';

import {
  COMPARE_SETS,
  COMPARE_VERSIONS,
  OPEN_FILE_VERSION,
  OPEN_PROVENANCE,
  USE_AS_INPUT
} from '../commandIds';
import { projectToName } from '../connection/project';
import { placeTab } from '../connection/projectTab';
import type { IFileSet } from '../contract';
import { PagedList } from '../core/pagedList';
import { oneLine } from '../core/text';
import { trans } from '../core/translation';
import { dataIcon } from '../panel/icon';
import { About } from './about';
import { downloadAll } from './downloading';
import type { DataServices, TabServices } from './services';
import { SetDiffView } from './setDiffView';
import { SetView } from './setView';
import { ComparedContent, FollowingContent } from './tabs';

/** One file set in the main area. */
export class SetTab extends MainAreaWidget<SetContent> {
  static idOf(name: string, project: string): string {
    return `acai-set-${name}@${project}`;
  }

  constructor(name: string, services: TabServices) {
    super({ content: new SetContent(name, services) });
    this.title.icon = dataIcon;
    placeTab(this, services.connection, oneLine(name));
    this.title.caption = trans.__('file set %1', oneLine(name));
    this.title.closable = true;
  }
}

class SetContent extends FollowingContent {
  constructor(
    private readonly name: string,
    services: DataServices
  ) {
    super(services);
    this.versions = new PagedList(async before => {
      const page = await services.client.setVersions(name, before);
      return { items: page.file_sets, next: page.next ?? null };
    });
  }

  /** Show one of its versions. */
  choose(version: number): void {
    this.wanted = version;
    this.update();
  }

  protected override refresh(): Promise<void> {
    return this.versions.refresh();
  }

  protected override render(): React.ReactElement {
    const { name, services, versions } = this;
    const { client } = services;
    return (
      <SetView
        name={name}
        versions={versions}
        client={client}
        wanted={this.wanted}
        stamp={this.stamp}
        project={projectToName(services.connection)}
        onAgain={this.again}
        onCompare={(before, after) =>
          void services.run(COMPARE_SETS, {
            before: `${name}:${before}`,
            after: `${name}:${after}`
          })
        }
        onOpenFile={(path, version) =>
          void services.run(OPEN_FILE_VERSION, { path, version })
        }
        onProvenance={spec => void services.run(OPEN_PROVENANCE, { spec })}
        onDownload={ref =>
          void downloadAll(services, [`@${ref}`], ref.replace(':', '-'))
        }
        onUse={
          services.has(USE_AS_INPUT)
            ? spec => void services.run(USE_AS_INPUT, { spec })
            : null
        }
        about={ref => <About thing={ref} client={client} stamp={this.stamp} />}
      />
    );
  }

  private readonly versions: PagedList<IFileSet, number>;
  private wanted: number | null = null;
}

/** Two file set versions beside each other. */
export class SetDiffTab extends MainAreaWidget {
  static idOf(before: string, after: string, project: string): string {
    return `acai-setdiff-${before}-${after}@${project}`;
  }

  constructor(before: string, after: string, services: TabServices) {
    const { client } = services;
    const content = new ComparedContent(services, (stamp, again) => (
      <SetDiffView
        before={before}
        after={after}
        client={client}
        stamp={stamp}
        onAgain={again}
        onCompare={(path, left, right) =>
          void services.run(COMPARE_VERSIONS, {
            path,
            before: left,
            after: right
          })
        }
        onOpenFile={(path, version) =>
          void services.run(OPEN_FILE_VERSION, { path, version })
        }
      />
    ));
    super({ content });
    this.title.icon = dataIcon;
    this.title.closable = true;
    placeTab(this, services.connection, `${before} → ${after}`);
  }
}
