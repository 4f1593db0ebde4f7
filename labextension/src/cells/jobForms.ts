import { Notification } from '@jupyterlab/apputils';
import type { CommandRegistry } from '@lumino/commands';
import { PanelLayout } from '@lumino/widgets';

import { usualProject } from '../connection/project';
import { JobForm, type IPlanning } from '../core/jobForm';
import { ProjectClient } from '../core/projectClient';
import { RunQuestion, StartingRuns } from '../core/runQuestion';
import { LOAD_LINE, type Ran, ranIn } from '../core/runCell';
import { jobLineIn } from '../core/jobLine';
import { nameOf } from '../core/specText';
import { trans } from '../core/translation';
import type { IAcaiConnection } from '../tokens';
import type { IViewServices } from '../views/services';
import { isOfOne, outputsOf, PLACE } from './cellBar';
import { followRun } from './followedRun';
import { FormWidget, type IFormSurroundings } from './formWidget';
import type { ICell, ICellModel, INotebook } from './notebook';
import { rewrite } from './sharedCells';

/** What runs the active cell of a notebook. */
const RUN_CELL = 'notebook:run-cell';

/** What forms need of the page. */
export interface IFormServices {
  connection: IAcaiConnection;
  services: IViewServices;
  commands: CommandRegistry;
  /** Bring a notebook to the front. */
  show: (notebook: INotebook) => void;
  openGroups: () => readonly string[];
}

/** The forms that are open: one at a cell. */
export class JobForms {
  constructor(private readonly around: IFormServices) {
    this.planning = planningOf(around.connection);
  }

  /** Show the options of a cell that has a line for them, or go to where they are shown. */
  async open(notebook: INotebook, cell: ICell): Promise<void> {
    await notebook.content.scrollToCell(cell);
    await cell.ready;
    const { layout } = cell;
    if (cell.isDisposed || !(layout instanceof PanelLayout)) {
      return;
    }
    let widget = this.widgets.get(cell);
    if (widget === undefined) {
      widget = this.make(notebook, cell);
      this.widgets.set(cell, widget);
      layout.insertWidget(PLACE, widget);
    }
    widget.focusFirst();
  }

  private make(notebook: INotebook, cell: ICell): FormWidget {
    const { model } = cell;
    const { services } = this.around;
    const form = new JobForm(
      this.planning,
      {
        notebook: nameOf(notebook.context.path),
        cell: model.sharedModel.getId()
      },
      source => {
        rewrite(cell, source);
      }
    );
    let ran: Ran | null = null;
    const close = () => {
      widget.dispose();
      notebook.content.activate();
    };
    const isLive = () =>
      surroundings.ran?.isLive === true ||
      model.executionState === 'running' ||
      this.starting.has(model);
    const surroundings: IFormSurroundings = {
      form,
      ran: null,
      question: new RunQuestion(isLive, () => {
        close();
        void this.starting.during(model, () => this.run(notebook, cell));
      }),
      kernel: () => notebook.sessionContext.kernelDisplayName,
      openGroups: this.around.openGroups(),
      onClose: close
    };
    const widget = new FormWidget(surroundings);
    const look = () => {
      const found = ranIn(outputsOf(model));
      if (!isSameRun(found, ran)) {
        const before = surroundings.ran;
        surroundings.ran = found === null ? null : followRun(found, services);
        before?.dispose();
        ran = found;
      }
      widget.update();
    };
    const read = () => {
      const source = model.sharedModel.getSource();
      if (jobLineIn(source) === null) {
        widget.dispose();
      } else {
        form.read(source);
      }
    };
    model.contentChanged.connect(read);
    model.stateChanged.connect(look);
    model.outputs?.changed.connect(look);
    widget.disposed.connect(() => {
      this.widgets.delete(cell);
      form.dispose();
      surroundings.ran?.dispose();
      model.contentChanged.disconnect(read);
      model.stateChanged.disconnect(look);
      model.outputs?.changed.disconnect(look);
    });
    look();
    form.read(model.sharedModel.getSource());
    return widget;
  }

  /** Run the cell as Shift and Enter would, in a kernel that knows its line. */
  private async run(notebook: INotebook, cell: ICell): Promise<void> {
    this.around.show(notebook);
    await loadLines(notebook);
    const { content } = notebook;
    const at = content.widgets.indexOf(cell);
    if (at >= 0) {
      content.activeCellIndex = at;
      content.deselectAll(); // else all that are selected would run
      await this.around.commands.execute(RUN_CELL, {
        semanticWidget: notebook.id, // also when another is in front meanwhile
        activate: false
      });
    }
  }

  private readonly planning: IPlanning;
  private readonly starting = new StartingRuns<ICellModel>();
  private readonly widgets = new Map<ICell, FormWidget>();
}

/**
 * Let the kernel know our lines, before whatever it is given next. Cells do not tell whether it does: their counts outlive
 * kernels. Why it cannot, the line itself would hardly say.
 */
async function loadLines({ sessionContext }: INotebook): Promise<void> {
  if (sessionContext.session === null) {
    await sessionContext.startKernel();
  }
  const asked = sessionContext.session?.kernel?.requestExecute({
    code: LOAD_LINE,
    silent: true,
    store_history: false,
    stop_on_error: false
  });
  asked?.done.then(
    ({ content }) => {
      if (content.status === 'error') {
        Notification.error(
          trans.__(
            'The kernel of this notebook does not know ACAI: %1',
            content.evalue
          )
        );
      }
    },
    () => {
      // It was ended, which the notebook says.
    }
  );
}

function isSameRun(one: Ran | null, other: Ran | null): boolean {
  return (
    one === other || (one !== null && other !== null && isOfOne(one, other))
  );
}

function planningOf(connection: IAcaiConnection): IPlanning {
  const client = (project: string) =>
    new ProjectClient(
      connection.client,
      () => project || usualProject(connection)
    );
  return {
    limits: async () => {
      await connection.connect();
      const { state } = connection;
      if (state.kind === 'unavailable') {
        throw state.error;
      }
      return state.kind === 'connected' ? (state.status.limits ?? {}) : {};
    },
    plan: (project, body) => client(project).plan(body),
    provision: (project, body) => client(project).provision(body),
    find: (project, body) => client(project).find(body),
    count: (project, body) => client(project).count(body)
  };
}
