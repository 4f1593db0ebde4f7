import * as React from 'react';

import type { IMachine, IStatus, IUser } from '../contract';
import type { StreamState } from '../core/eventStream';
import { formatAgo, formatSize } from '../core/format';

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
        <Fact term="Project">{status.project}</Fact>
        <Fact term="User">{describeUser(status.user)}</Fact>
        <Fact term="Data in">{describeData(status.data_folder)}</Fact>
      </Group>
      <Group>
        <Fact term="Runner">{backends.runner}</Fact>
        <Fact term="Machine">{describeMachine(status.machine)}</Fact>
      </Group>
      <Group>
        <Fact term="Database">{backends.database}</Fact>
        <Fact term="Object store">{backends.object_store}</Fact>
        <Fact term="Event bus">{backends.event_bus}</Fact>
        <Fact term="Live updates">{stream}</Fact>
      </Group>
      <Group>
        <Fact term="Server">ACAI {status.version}</Fact>
        <Fact term="This page">ACAI {pageVersion}</Fact>
        <Fact term="Started">
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
    return 'the object store';
  }
  return folder.split(/(?<=[\\/])/).map((part, index) => (
    <React.Fragment key={index}>
      {part}
      <wbr />
    </React.Fragment>
  ));
}

function describeMachine(machine: IMachine): string {
  return `${machine.cpus} CPU, ${formatSize(machine.memory_bytes)}`;
}
