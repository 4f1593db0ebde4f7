import * as React from 'react';

import type { IMachine, IStatus, IUser } from '../contract';
import type { StreamState } from '../core/eventStream';
import { formatAgo, formatSize } from '../core/format';
import { trans } from '../core/translation';

export interface IFactsProps {
  status: IStatus;
  stream: StreamState;
  pageVersion: string;
  now: Date;
}

/** What the page is connected to, as terms and descriptions. */
export function Facts(props: IFactsProps): React.ReactElement {
  const { status, stream, pageVersion, now } = props;
  const { backends } = status;
  return (
    <dl className="jp-AcaiPanel-facts">
      <Group>
        <Fact term={trans.__('Project')}>{status.project}</Fact>
        <Fact term={trans.__('User')}>{describeUser(status.user)}</Fact>
        <Fact term={trans.__('Data in')}>
          {describeData(status.data_folder)}
        </Fact>
      </Group>
      <Group>
        <Fact term={trans.__('Runner')}>{backends.runner}</Fact>
        <Fact term={trans.__('Machine')}>
          {describeMachine(status.machine)}
        </Fact>
      </Group>
      <Group>
        <Fact term={trans.__('Database')}>{backends.database}</Fact>
        <Fact term={trans.__('Object store')}>{backends.object_store}</Fact>
        <Fact term={trans.__('Event bus')}>{backends.event_bus}</Fact>
        <Fact term={trans.__('Live updates')}>{stream}</Fact>
      </Group>
      <Group>
        <Fact term={trans.__('Server')}>
          {trans.__('ACAI %1', status.version)}
        </Fact>
        <Fact term={trans.__('This page')}>
          {trans.__('ACAI %1', pageVersion)}
        </Fact>
        <Fact term={trans.__('Started')}>
          {formatAgo(new Date(status.started_at), now)}
        </Fact>
      </Group>
    </dl>
  );
}

function Group(props: { children: React.ReactNode }): React.ReactElement {
  return <div className="jp-AcaiPanel-group">{props.children}</div>;
}

function Fact(props: {
  term: string;
  children: React.ReactNode;
}): React.ReactElement {
  return (
    <>
      <dt>{props.term}</dt>
      <dd>{props.children}</dd>
    </>
  );
}

function describeUser(user: IUser): string {
  return `${user.name} (${user.role})`;
}

/** A path that may break after each folder, and only there if that is enough. */
function describeData(folder: string | null): React.ReactNode {
  if (folder === null) {
    return trans.__('the object store');
  }
  return folder.split(/(?<=[\\/])/).map((part, index) => (
    <React.Fragment key={index}>
      {part}
      <wbr />
    </React.Fragment>
  ));
}

function describeMachine(machine: IMachine): string {
  return trans.__('%1 CPU, %2', machine.cpus, formatSize(machine.memory_bytes));
}
