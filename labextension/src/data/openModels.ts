import type { Contents } from '@jupyterlab/services';

import { asAcaiError } from '../core/connectionStore';
import { AcaiError } from '../core/errors';
import {
  type IPreview,
  type IPreviewPlace,
  type PreviewReader,
  readPreviewPath
} from '../core/previews';
import { trans } from '../core/translation';
import { base64Of, type MimeOf, modelOf, type PageOf } from './models';

/** What is shown where another document names it. */
const IN_PLACE = /^(?:image|audio|video)\//;
/** What nobody has put; it is drawn like any other picture that is not there. */
const NOTHING = 'data:,';

/**
 * A file where a page can show it, as a picture that a notebook names. Such an address is of no origin, so nothing in it acts as
 * this page, and nobody has to give it back.
 */
async function urlOf(
  path: string,
  mimeOf: MimeOf,
  read: (place: IPreviewPlace) => Promise<IPreview>
): Promise<string> {
  const place = readPreviewPath(path);
  const mime = mimeOf(path);
  if (place === null || !IN_PLACE.test(mime)) {
    throw new AcaiError(
      'not_in_place',
      trans.__(
        'A version of a file cannot be downloaded from here; the file’s tab in ACAI does that.'
      ),
      415
    );
  }
  return addressOf((await read(place)).bytes, mime);
}

function addressOf(bytes: Uint8Array, mime: string): string {
  return `data:${mime};base64,${base64Of(bytes)}`;
}

/** What is open in viewers, by their paths, and where what they show is. */
export class OpenModels {
  constructor(
    private readonly mimeOf: MimeOf,
    private readonly pageOf: PageOf
  ) {}

  async read(
    reader: PreviewReader,
    path: string,
    options: Contents.IFetchOptions
  ): Promise<Contents.IModel> {
    const shown = await modelOf(
      reader,
      path,
      options,
      this.mimeOf,
      this.pageOf
    );
    if (options.content !== false) {
      this.shown.set(shown.model.path, {
        parts: shown.parts,
        page: this.isPage(path) ? (shown.bytes ?? null) : null
      });
    }
    return shown.model;
  }

  partsOf(path: string): number {
    return this.shown.get(path)?.parts ?? 1;
  }

  /** The version itself of what is open, else the newest, and nothing where there is none. */
  async urlOf(
    readerFor: () => Promise<PreviewReader>,
    path: string
  ): Promise<string> {
    const shown = this.shown.get(path);
    if (this.isPage(path)) {
      // Its viewer shows nothing for good when it waits for this, or is refused.
      const page = shown?.page ?? null;
      return page === null ? NOTHING : addressOf(page, this.mimeOf(path));
    }
    const reader = await readerFor();
    if (shown !== undefined) {
      return urlOf(path, this.mimeOf, place => reader.whole(place));
    }
    try {
      return await urlOf(path, this.mimeOf, place => reader.newest(place));
    } catch (error) {
      if (asAcaiError(error).status === 404) {
        return NOTHING;
      }
      throw error;
    }
  }

  /** One viewer more shows it; what comes back tells that it does no more. */
  view(path: string): () => void {
    this.viewers.set(path, (this.viewers.get(path) ?? 0) + 1);
    return () => {
      const left = (this.viewers.get(path) ?? 1) - 1;
      this.viewers.set(path, left);
      if (left === 0) {
        this.viewers.delete(path);
        this.shown.delete(path);
      }
    };
  }

  private isPage(path: string): boolean {
    return this.mimeOf(path) === 'text/html';
  }

  private readonly shown = new Map<
    string,
    { parts: number; page: Uint8Array | null }
  >();
  private readonly viewers = new Map<string, number>();
}
