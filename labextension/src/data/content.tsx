import * as React from 'react';

import {
  OPEN_FILE,
  OPEN_FILE_VERSION,
  OPEN_JOB,
  OPEN_SET
} from '../commandIds';
import type { IFileSet, ISubjectKind } from '../contract';
import { projectOf, projectToName } from '../connection/project';
import { linesForFile, linesForRow, linesForSet } from '../core/dragged';
import { asAcaiError } from '../core/connectionStore';
import { ChosenFiles } from '../core/chosenFiles';
import type { DataClient } from '../core/dataClient';
import { FileTree } from '../core/fileTree';
import { PagedList } from '../core/pagedList';
import { folderOf, readFileSpec, readSetRef } from '../core/specText';
import { ThingSearch } from '../core/thingSearch';
import { trans } from '../core/translation';
import { wordsWhenAway } from '../panel/stateLine';
import { Action } from '../views/action';
import { Fault } from '../views/fault';
import { Sentence } from '../views/sentence';
import { ChosenBar } from './chosenBar';
import { downloadChosen } from './downloading';
import { droppedFiles } from './dropping';
import { FoundList, SearchField } from './searchView';
import { sendFiles } from './uploadStart';
import type { PageServices } from './services';
import { SetList } from './setList';
import { FollowingContent } from './tabs';
import { TreeView } from './treeView';
import { UploadsView } from './uploadsView';

const PUT_LINE = '%acai put FOLDER /path';

/** What stands in the sidebar. It begins anew with each project. */
export class DataContent extends FollowingContent {
  constructor(protected override readonly services: PageServices) {
    super(services);
    this.addClass('jp-AcaiDataPanel-content');
    this.listed = listedIn(services.client);
    services.connection.stateChanged.connect(this.onState);
    this.onState();
  }

  override dispose(): void {
    this.services.connection.stateChanged.disconnect(this.onState);
    super.dispose();
  }

  protected override async refresh(): Promise<void> {
    const { tree, sets, search } = this.listed;
    await Promise.all([
      tree.refresh(),
      sets.refresh(),
      search.ask(search.query)
    ]);
  }

  protected override render(): React.ReactElement {
    const { listed, project, services } = this;
    return (
      <Sidebar
        key={project}
        {...listed}
        services={services}
        away={wordsWhenAway(services.connection.state)}
        onAgain={this.again}
      />
    );
  }

  private readonly onState = (): void => {
    const project = projectOf(this.services.connection);
    if (project !== '' && project !== this.project) {
      if (this.project !== '') {
        this.listed = listedIn(this.services.client);
        void this.services.uploads.look();
      }
      this.project = project;
    }
    this.update();
  };

  private listed: IListed;
  private project = '';
}

/** What is listed of one project. */
interface IListed {
  tree: FileTree;
  sets: PagedList<IFileSet, string>;
  search: ThingSearch;
  chosen: ChosenFiles;
}

function listedIn(client: DataClient): IListed {
  return {
    tree: new FileTree((path, after) => client.folder(path, after)),
    sets: new PagedList(async after => {
      const page = await client.sets(after ?? '');
      return { items: page.file_sets, next: page.next ?? null };
    }),
    search: new ThingSearch(request => client.find(request)),
    chosen: new ChosenFiles()
  };
}

interface ISidebarProps extends IListed {
  services: PageServices;
  /** Why nothing comes from the server. */
  away: string;
  /** Ask for what could not be read. */
  onAgain: () => void;
}

const TABS = ['files', 'sets'] as const;
type Tab = (typeof TABS)[number];

function titleOf(tab: Tab): string {
  return tab === 'files' ? trans.__('files') : trans.__('file sets');
}

function Sidebar(props: ISidebarProps): React.ReactElement {
  const { search, services, sets, away, onAgain } = props;
  const { client, connection } = services;
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => search.subscribe(again), [search]);
  const [tab, setTab] = React.useState<Tab>('files');
  const id = React.useId();
  const openSet = (name: string, version?: number) =>
    void services.run(
      OPEN_SET,
      version === undefined ? { name } : { name, version }
    );
  const open = (kind: ISubjectKind, thing: string) => {
    const [file, set] = [readFileSpec(thing), readSetRef(thing)];
    if (kind === 'job') {
      void services.run(OPEN_JOB, { job: Number(thing) });
    } else if (kind === 'file' && file !== null) {
      void services.run(OPEN_FILE, { path: file.path });
    } else if (set !== null) {
      openSet(set.name, set.version);
    }
  };
  const drag = (kind: ISubjectKind, thing: string, data: DataTransfer) => {
    const project = projectToName(connection);
    const lines =
      kind === 'file'
        ? linesForFile(thing, project)
        : linesForSet(thing, project);
    data.setData('text/plain', lines);
  };
  return (
    <>
      <Fault words={away} onAgain={onAgain} />
      <SearchField search={search} client={client} />
      {search.query.trim() !== '' ? (
        <FoundList search={search} onOpen={open} onDrag={drag} />
      ) : (
        <>
          <TabList tab={tab} id={id} onTab={setTab} />
          <div
            role="tabpanel"
            id={`${id}-panel`}
            aria-label={titleOf(tab)}
            className="jp-AcaiData-panel"
          >
            {tab === 'files' ? (
              <Files {...props} />
            ) : (
              <SetList
                sets={sets}
                told={away}
                onAgain={onAgain}
                onOpen={openSet}
                onDrag={(ref, data) => {
                  drag('file_set', ref, data);
                }}
              />
            )}
          </div>
        </>
      )}
    </>
  );
}

function TabList(props: {
  tab: Tab;
  id: string;
  onTab: (tab: Tab) => void;
}): React.ReactElement {
  const { tab, id, onTab } = props;
  const other = TABS[1 - TABS.indexOf(tab)] ?? tab;
  return (
    <div
      role="tablist"
      aria-label={trans.__('what is listed')}
      className="jp-AcaiData-tabs"
    >
      {TABS.map(name => (
        <button
          key={name}
          type="button"
          role="tab"
          aria-selected={name === tab}
          aria-controls={name === tab ? `${id}-panel` : undefined}
          tabIndex={name === tab ? 0 : -1}
          onClick={() => {
            onTab(name);
          }}
          onKeyDown={event => {
            if (['ArrowLeft', 'ArrowRight'].includes(event.key)) {
              onTab(other);
              const list = event.currentTarget.parentElement;
              list
                ?.querySelector<HTMLElement>(`[aria-selected=false]`)
                ?.focus();
            }
          }}
        >
          {' '}
          {titleOf(name)}{' '}
        </button>
      ))}
    </div>
  );
}

function Files(props: ISidebarProps): React.ReactElement {
  const { tree, chosen, services, away, onAgain } = props;
  const { client, connection } = services;
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => tree.subscribe(again), [tree]);
  React.useEffect(() => chosen.subscribe(again), [chosen]);
  const isNone = !tree.isEmpty && tree.rows.length === 0;
  const { uploads } = services;
  const { paths } = chosen;
  const [only] = paths;
  const target = paths.size === 1 && only !== undefined ? folderAt(only) : '/';
  /** The folder that files are dragged over. */
  const [over, setOver] = React.useState<string | null>(null);
  const [refused, setRefused] = React.useState('');
  return (
    <div
      className="jp-AcaiData-panel"
      onDragOver={event => {
        if (event.dataTransfer.types.includes('Files')) {
          event.preventDefault();
          setOver(folderUnder(event.target));
        }
      }}
      onDragLeave={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget as Node | null)) {
          setOver(null);
        }
      }}
      onDrop={event => {
        setOver(null);
        if (event.dataTransfer.types.includes('Files')) {
          event.preventDefault();
          const folder = folderUnder(event.target);
          setRefused('');
          droppedFiles(event.dataTransfer).then(
            given => {
              sendFiles(uploads, given, folder);
            },
            (error: unknown) => {
              setRefused(asAcaiError(error).message);
            }
          );
        }
      }}
    >
      {away === '' && (
        <Fault words={tree.error?.message ?? ''} onAgain={onAgain} />
      )}
      {tree.isEmpty && tree.error === null && (
        <p role="status">{trans.__('Asking…')}</p>
      )}
      {isNone && (
        <p>
          <Sentence
            text={trans.__(
              'There are no files yet. Drop some here, or put them with %1.',
              '%1'
            )}
            parts={[<code key="put">{PUT_LINE}</code>]}
          />
        </p>
      )}
      <TreeView
        tree={tree}
        name={trans.__('files')}
        chosen={paths}
        over={over}
        onChoose={next => {
          chosen.choose(next);
        }}
        onOpen={row => void services.run(OPEN_FILE, { path: row.path })}
        onDrag={({ path, child }, data) => {
          const lines = linesForRow(path, child, projectToName(connection));
          data.setData('text/plain', lines);
        }}
      />
      <ChosenBar
        files={chosen}
        client={client}
        versionOf={path =>
          tree.rows.find(row => row.path === path)?.child?.version ?? null
        }
        onPreview={(path, version) =>
          void services.run(OPEN_FILE_VERSION, { path, version })
        }
        onMade={name => void services.run(OPEN_SET, { name })}
        onDownload={specs => void downloadChosen(services, specs)}
      />
      {refused !== '' && (
        <div className="jp-AcaiView-fault">
          <p className="jp-AcaiView-error" role="alert">
            {refused}
          </p>
          <Action
            words={trans.__('dismiss')}
            onClick={() => {
              setRefused('');
            }}
          />
        </div>
      )}
      <UploadsView uploads={uploads} folder={over ?? target} />
    </div>
  );
}

/** A folder itself, or the one that a file is in. */
function folderAt(path: string): string {
  return path.endsWith('/') ? path : folderOf(path);
}

/** The folder of the row that something was dropped on; what is dropped beside all rows goes to the top. */
function folderUnder(node: EventTarget): string {
  const row =
    node instanceof Element
      ? node.closest<HTMLElement>('[data-acai-folder]')
      : null;
  return row?.dataset.acaiFolder ?? '/';
}
