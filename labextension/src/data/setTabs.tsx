import { MainAreaWidget } from '@jupyterlab/apputils';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import {
  COMPARE_SETS,
  COMPARE_VERSIONS,
  OPEN_FILE_VERSION,
  OPEN_PROVENANCE,
  USE_AS_INPUT
} from '../commandIds';
import { projectOf } from '../connection/project';
import type { IFileSet } from '../contract';
import { PagedList } from '../core/pagedList';
import { oneLine } from '../core/text';
import { dataIcon } from '../panel/icon';
import { About } from './about';
import type { DataServices } from './services';
import { SetDiffView } from './setDiffView';
import { SetView } from './setView';
import { FollowingContent } from './tabs';

/** One file set in the main area. */
export class SetTab extends MainAreaWidget<SetContent> {
  static idOf(name: string): string {
    return `acai-set-${name}`;
  }

  constructor(name: string, services: DataServices) {
    super({ content: new SetContent(name, services) });
    this.id = SetTab.idOf(name);
    this.title.icon = dataIcon;
    this.title.label = oneLine(name);
    this.title.caption = `file set ${oneLine(name)}`;
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
    const { client, commands } = services;
    return (
      <SetView
        name={name}
        versions={versions}
        client={client}
        wanted={this.wanted}
        onCompare={(before, after) =>
          void commands.execute(COMPARE_SETS, {
            before: `${name}:${before}`,
            after: `${name}:${after}`
          })
        }
        onOpenFile={(path, version) =>
          void commands.execute(OPEN_FILE_VERSION, { path, version })
        }
        onProvenance={spec => void commands.execute(OPEN_PROVENANCE, { spec })}
        onUse={
          commands.hasCommand(USE_AS_INPUT)
            ? spec => void commands.execute(USE_AS_INPUT, { spec })
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
  static idOf(before: string, after: string): string {
    return `acai-setdiff-${before}-${after}`;
  }

  constructor(before: string, after: string, services: DataServices) {
    const { client, commands, connection } = services;
    const content = ReactWidget.create(
      <SetDiffView
        before={before}
        after={after}
        client={client}
        onCompare={(path, left, right) =>
          void commands.execute(COMPARE_VERSIONS, {
            path,
            before: left,
            after: right,
            project: projectOf(connection)
          })
        }
        onOpenFile={(path, version) =>
          void commands.execute(OPEN_FILE_VERSION, { path, version })
        }
      />
    );
    content.addClass('jp-AcaiView');
    content.addClass('jp-AcaiData');
    super({ content });
    this.id = SetDiffTab.idOf(before, after);
    this.title.icon = dataIcon;
    this.title.label = `${before} → ${after}`;
    this.title.closable = true;
  }
}
