import type { Toolbar } from '@jupyterlab/ui-components';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Contents } from '@jupyterlab/services';
import type { Widget } from '@lumino/widgets';
import * as React from 'react';

import { OPEN_FILE, OPEN_FILE_VERSION } from '../commandIds';
import {
  type IPreviewPlace,
  partMeant,
  type PreviewReader,
  readPreviewPath
} from '../core/previews';
import { withPolicy } from '../core/externalRequests';
import { trans } from '../core/translation';
import { Action } from '../views/action';
import { Sentence } from '../views/sentence';
import { DRIVE } from './drive';
import type { MimeOf } from './models';
import { OpenModels } from './openModels';
import type { DataServices } from './services';

/** What is needed of a document in JupyterLab. */
interface IDocument extends Widget {
  readonly context: { readonly ready: Promise<void> };
  readonly toolbar: Toolbar;
}

/** What JupyterLab's viewers are given, and what is said beside it. */
export class Models {
  constructor(
    private readonly services: DataServices,
    mimeOf: MimeOf
  ) {
    this.open = new OpenModels(mimeOf, withPolicy);
  }

  async model(
    path: string,
    options: Contents.IFetchOptions
  ): Promise<Contents.IModel> {
    return this.open.read(await this.readerFor(path), path, options);
  }

  /** Where a document shows a version in place. */
  url(path: string): Promise<string> {
    return this.open.urlOf(() => this.readerFor(path), path);
  }

  /** Say which version a document shows, and which part of it where that is not all. */
  addParts(widget: Widget, path: string): void {
    const local = path.slice(DRIVE.length + 1);
    const place = readPreviewPath(local);
    const document = widget as IDocument;
    if (place === null || widget.isDisposed) {
      return;
    }
    widget.disposed.connect(this.open.view(local));
    void document.context.ready.then(() => {
      const parts = this.open.partsOf(local);
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

  private async readerFor(path: string): Promise<PreviewReader> {
    await this.services.connection.connect();
    return this.services.readerOf(readPreviewPath(path)?.project ?? '');
  }

  private readonly open: OpenModels;
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
          <Sentence
            text={trans.__(
              'part %1 of %2',
              '%1',
              parts.toLocaleString('en-US')
            )}
            parts={[
              <PartField key="part" part={part} parts={parts} onPart={onPart} />
            ]}
          />
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

/** The number of the part that is shown; another one, and Enter, goes there. */
function PartField(props: {
  part: number;
  parts: number;
  onPart: (part: number) => void;
}): React.ReactElement {
  const { part, parts, onPart } = props;
  const [typed, setTyped] = React.useState(String(part));
  return (
    <input
      type="number"
      className="jp-AcaiParts-field"
      aria-label={trans.__('go to part')}
      data-lm-suppress-shortcuts="true"
      min={1}
      max={parts}
      value={typed}
      onChange={event => {
        setTyped(event.currentTarget.value);
      }}
      onKeyDown={event => {
        const wanted = partMeant(typed, part, parts);
        if (event.key === 'Enter' && wanted === part) {
          setTyped(String(part));
        } else if (event.key === 'Enter') {
          onPart(wanted);
        }
      }}
    />
  );
}
