import type { Toolbar } from '@jupyterlab/ui-components';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Contents } from '@jupyterlab/services';
import type { Widget } from '@lumino/widgets';
import * as React from 'react';

import { OPEN_FILE, OPEN_FILE_VERSION } from '../commandIds';
import { type IPreviewPlace, partsOf, readPreviewPath } from '../core/previews';
import { trans } from '../core/translation';
import { Action } from '../views/action';
import { DRIVE } from './drive';
import { modelOf } from './models';
import type { DataServices } from './services';

/** What is needed of a document in JupyterLab. */
interface IDocument extends Widget {
  readonly context: { readonly ready: Promise<void> };
  readonly toolbar: Toolbar;
}

/** What JupyterLab's viewers are given, and what is said beside it. */
export class Models {
  constructor(private readonly services: DataServices) {}

  async model(
    path: string,
    options: Contents.IFetchOptions
  ): Promise<Contents.IModel> {
    await this.services.connection.connect();
    const project = readPreviewPath(path)?.project ?? '';
    const reader = this.services.readerOf(project);
    const found = await modelOf(reader, path, options);
    this.sizes.set(`${DRIVE}:${found.path}`, found.size ?? 0);
    return found;
  }

  /** Say which version a document shows, and which part of it where that is not all. */
  addParts(widget: Widget, path: string): void {
    const place = readPreviewPath(path.slice(DRIVE.length + 1));
    const document = widget as IDocument;
    if (place === null) {
      return;
    }
    void document.context.ready.then(() => {
      const parts = partsOf(this.sizes.get(path) ?? 0);
      const bar = ReactWidget.create(
        <Parts
          place={place}
          parts={parts}
          onVersions={() =>
            void this.services.run(OPEN_FILE, {
              path: place.path,
              project: place.project
            })
          }
          onPart={part => void this.turn(document, { ...place, part })}
        />
      );
      bar.addClass('jp-AcaiParts');
      document.toolbar.insertItem(0, 'acai-parts', bar);
    });
  }

  /** The part that is shown goes when the next one is there. */
  private async turn(document: Widget, place: IPreviewPlace): Promise<void> {
    await this.services.run(OPEN_FILE_VERSION, { ...place });
    document.dispose();
  }

  private readonly sizes = new Map<string, number>();
}

function Parts(props: {
  place: IPreviewPlace;
  parts: number;
  onVersions: () => void;
  onPart: (part: number) => void;
}): React.ReactElement {
  const { place, parts, onVersions, onPart } = props;
  const { part } = place;
  return (
    <>
      <Action
        words={trans.__('version %1', place.version)}
        onClick={onVersions}
      />
      {parts > 1 && (
        <span role="group" aria-label={trans.__('part of the file')}>
          {part > 1 && (
            <Action
              words="‹"
              name={trans.__('the part before')}
              onClick={() => {
                onPart(part - 1);
              }}
            />
          )}
          {trans.__('part %1 of %2', part, parts.toLocaleString('en-US'))}
          {part < parts && (
            <Action
              words="›"
              name={trans.__('the next part')}
              onClick={() => {
                onPart(part + 1);
              }}
            />
          )}
        </span>
      )}
    </>
  );
}
