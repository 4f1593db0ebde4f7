import type { ConnectionState } from '../core/connectionStore';
import { trans } from '../core/translation';

export interface IStateLine {
  /** Picks the colour of the mark; the sentence says the same. */
  tone: 'waiting' | 'good' | 'bad';
  sentence: string;
}

/** A state of the connection in one sentence. */
export function describeState(state: ConnectionState): IStateLine {
  switch (state.kind) {
    case 'idle':
      return { tone: 'waiting', sentence: '' };
    case 'loading':
      return state.error === null
        ? { tone: 'waiting', sentence: trans.__('Asking the server…') }
        : { tone: 'bad', sentence: state.error.message };
    case 'unavailable':
      return { tone: 'bad', sentence: state.error.message };
    case 'connected':
      return describeConnected(state);
  }
}

function describeConnected(
  state: Extract<ConnectionState, { kind: 'connected' }>
): IStateLine {
  if (state.stream === 'reconnecting') {
    return {
      tone: 'waiting',
      sentence: trans.__(
        'The connection to the server is lost. This page reconnects by itself.'
      )
    };
  }
  if (state.stream === 'polling') {
    return {
      tone: 'waiting',
      sentence: trans.__(
        'WebSockets do not come through to the server. This page asks now and then what is new, so it shows changes late.'
      )
    };
  }
  return {
    tone: 'good',
    sentence:
      state.status.mode === 'attached'
        ? trans.__(
            'Connected through another server of yours, which has the data open.'
          )
        : trans.__('Connected.')
  };
}

/** The same in a word or two, where there is room for no more; empty while all is well. */
export function describeTrouble(state: ConnectionState): string {
  if (state.kind === 'connected') {
    const { stream } = state;
    return stream === 'polling'
      ? trans.__('changes come late')
      : stream === 'reconnecting'
        ? trans.__('connection lost')
        : '';
  }
  return state.kind === 'unavailable' ? trans.__('no connection') : '';
}

/** Why what comes from the server comes late; empty where it does not. */
export function wordsWhenLate(state: ConnectionState): string {
  return state.kind === 'connected' && state.stream === 'polling'
    ? describeState(state).sentence
    : '';
}

/** Why nothing comes from the server; empty while it does, or nobody knows yet. */
export function wordsWhenAway(state: ConnectionState): string {
  const isAway =
    state.kind === 'unavailable' ||
    (state.kind === 'connected' && state.stream === 'reconnecting');
  return isAway ? describeState(state).sentence : '';
}
