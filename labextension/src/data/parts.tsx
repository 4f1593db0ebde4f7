import type { Toolbar } from '@jupyterlab/ui-components';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Contents } from '@jupyterlab/services';
import type { Widget } from '@lumino/widgets';
import * as React from 'react';

import { OPEN_FILE, OPEN_FILE_VERSION } from '../commandIds';
import {
  type IPreviewPlace,
  type PreviewReader,
  readPreviewPath
} from '../core/previews';
import { trans } from '../core/translation';
import { Action } from '../views/action';
import { Sentence } from '../views/sentence';
import { DRIVE } from './drive';
import { type MimeOf, modelOf, NOTHING, urlOf } from './models';
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
    private readonly mimeOf: MimeOf
  ) {}

  async model(
    path: string,
    options: Contents.IFetchOptions
  ): Promise<Contents.IModel> {
    const reader = await this.readerFor(path);
    const { model, parts } = await modelOf(reader, path, options, this.mimeOf);
    if (options.content !== false) {
      this.parts.set(`${DRIVE}:${model.path}`, parts);
    }
    return model;
  }

  /** Where a document shows a version in place. */
  async url(path: string): Promise<string> {
    const isRead = this.parts.has(`${DRIVE}:${path}`);
    if (!isRead && this.mimeOf(path) === 'text/html') {
      // The viewer of HTML asks before it has the text, and shows nothing for good when it waits then.
      return NOTHING;
    }
    return urlOf(await this.readerFor(path), path, this.mimeOf);
  }

  /** Say which version a document shows, and which part of it where that is not all. */
  addParts(widget: Widget, path: string): void {
    const place = readPreviewPath(path.slice(DRIVE.length + 1));
    const document = widget as IDocument;
    if (place === null) {
      return;
    }
    widget.disposed.connect(() => {
      this.parts.delete(path);
    });
    void document.context.ready.then(() => {
      const parts = this.parts.get(path) ?? 1;
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

  private readonly parts = new Map<string, number>();
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
        const wanted = Math.min(parts, Math.max(1, Math.round(Number(typed))));
        if (event.key === 'Enter' && wanted === part) {
          setTyped(String(part));
        } else if (event.key === 'Enter') {
          onPart(wanted);
        }
      }}
    />
  );
}
