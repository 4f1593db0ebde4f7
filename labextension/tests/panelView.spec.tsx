import * as React from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';

import type { ConnectionState } from '../src/core/connectionStore';
import { AcaiError, notEnabled } from '../src/core/errors';
import { AboutView } from '../src/panel/aboutView';
import { PanelView } from '../src/panel/panelView';
import {
  describeTrouble,
  wordsWhenAway,
  wordsWhenLate
} from '../src/panel/stateLine';
import { Fault } from '../src/views/fault';
import { makeStatus } from './fakes';

function render(state: ConnectionState): string {
  const now = new Date('2026-11-18T12:02:05Z');
  return renderToStaticMarkup(
    <>
      <PanelView
        state={state}
        pageVersion="0.1.0"
        onProjects={() => undefined}
        onRetry={() => undefined}
      />
      <AboutView state={state} pageVersion="0.1.0" now={now} />
    </>
  );
}

/** What a person reads, without the elements around it. */
function read(state: ConnectionState): string {
  return render(state)
    .replace(/<wbr\/>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');
}

describe('A tab whose server is away', () => {
  const away = new AcaiError('server_unreachable', 'It is away.', 0);

  it('says so only while nothing comes', () => {
    expect(wordsWhenAway({ kind: 'unavailable', error: away })).toBe(
      'It is away.'
    );
    const status = makeStatus();
    const state = { kind: 'connected', status, usual: 'default' } as const;
    expect(wordsWhenAway({ ...state, stream: 'reconnecting' })).toMatch(
      /^The connection to the server is lost/
    );
    expect(wordsWhenAway({ ...state, stream: 'live' })).toBe('');
    expect(wordsWhenAway({ kind: 'idle' })).toBe('');
  });

  it('says calmly that changes come late where no socket comes through', () => {
    const status = makeStatus();
    const state = { kind: 'connected', status, usual: 'default' } as const;
    const late = { ...state, stream: 'polling' } as const;
    expect(wordsWhenAway(late)).toBe('');
    expect(wordsWhenLate(late)).toMatch(/^WebSockets do not come through/);
    expect(describeTrouble(late)).toBe('changes come late');
    const live = { ...state, stream: 'live' } as const;
    expect(wordsWhenLate(live) + describeTrouble(live)).toBe('');
  });

  it('offers to try again where that may help', () => {
    const html = renderToStaticMarkup(
      <Fault words={away.message} onAgain={() => undefined} />
    );
    expect(html).toContain('role="alert" title="It is away.">It is away.</p>');
    expect(html).toContain('Try again');
    expect(
      renderToStaticMarkup(<Fault words="refused" onAgain={null} />)
    ).not.toContain('<button');
  });
});

describe('PanelView', () => {
  it('says what it is connected to', () => {
    const text = read({
      kind: 'connected',
      status: makeStatus(),
      usual: 'default',
      stream: 'live'
    });
    expect(text).toContain('Connected.');
    expect(text).toContain('Project default');
    expect(text).toContain('User you (admin)');
    expect(text).toContain('Data in /data/acai');
    expect(text).toContain('Machine 2 CPU, 24 GB');
    expect(text).toContain('Live updates live');
    expect(text).toContain('Started 2 min ago');
    expect(text).not.toContain('Try again');
  });

  it('says when the data is kept by another server', () => {
    const status = makeStatus({ mode: 'attached', data_folder: null });
    const text = read({
      kind: 'connected',
      status,
      usual: 'default',
      stream: 'live'
    });
    expect(text).toContain('through another server of yours');
    expect(text).toContain('Data in the object store');
  });

  it('says that it reconnects, and offers to try at once', () => {
    const status = makeStatus();
    const text = read({
      kind: 'connected',
      status,
      usual: 'default',
      stream: 'reconnecting'
    });
    expect(text).toContain('reconnects by itself');
    expect(text).toContain('Try again');
  });

  it('shows a difference of versions and what to run', () => {
    const status = makeStatus({ version: '0.2.0' });
    const text = read({
      kind: 'connected',
      status,
      usual: 'default',
      stream: 'live'
    });
    expect(text).toContain('The server has ACAI 0.2.0');
    expect(text).toContain('pip install --upgrade acai-jupyter');
  });

  it('shows what the server wants to be known', () => {
    const status = makeStatus({ notices: ['The clock went back.'] });
    const text = read({
      kind: 'connected',
      status,
      usual: 'default',
      stream: 'live'
    });
    expect(text).toContain('The clock went back.');
  });

  it('says why not, what to run, and offers to try again', () => {
    const text = read({ kind: 'unavailable', error: notEnabled() });
    expect(text).toContain('runs without ACAI');
    expect(text).toContain('jupyter server extension enable acai_server');
    expect(text).toContain('Try again');
  });

  it('keeps the sentence and the button while it tries again', () => {
    const error = new AcaiError('settings_broken', 'Fix it.', 503);
    const html = render({ kind: 'loading', error });
    expect(html).toContain('Fix it.');
    expect(html).toContain('Trying again…');
    expect(html).toContain('aria-disabled="true"');
  });

  it('tells every state in the one element that screen readers watch', () => {
    const error = new AcaiError('x', 'Broken.', 503);
    const states: ConnectionState[] = [
      { kind: 'idle' },
      { kind: 'loading', error: null },
      { kind: 'unavailable', error },
      {
        kind: 'connected',
        status: makeStatus(),
        usual: 'default',
        stream: 'live'
      }
    ];
    for (const state of states) {
      expect(render(state).match(/role="status"/g)).toHaveLength(1);
    }
  });
});
