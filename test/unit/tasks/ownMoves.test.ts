import assert from 'node:assert/strict';
import { type OwnMove, unexplained } from '../../../src/tasks/ownMoves';

const main = 'refs/heads/main';
const landing: OwnMove = { checkout: '/repo', ref: main, from: 'a', to: 'b' };

describe('alarms and what Landings move themselves', () => {
  it('raise none for a branch, and the index with it, that a Landing moved while a command ran', () => {
    const changes = [
      { kind: 'ref', name: main, before: 'a', after: 'b' },
      { kind: 'index', name: '/repo' },
    ] as const;
    assert.deepEqual(unexplained(changes, [landing]), []);
  });

  it('follow several Landings one after another', () => {
    const next: OwnMove = { ...landing, from: 'b', to: 'c' };
    const change = { kind: 'ref', name: main, before: 'a', after: 'c' } as const;
    assert.deepEqual(unexplained([change], [next, landing]), []);
  });

  it('follow a detached HEAD that a Landing moved', () => {
    const { ref: _ref, ...detached } = landing;
    const change = { kind: 'head', name: '/repo', before: 'a', after: 'b' } as const;
    assert.deepEqual(unexplained([change], [detached]), []);
    assert.deepEqual(unexplained([{ ...change, name: '/other' }], [detached]), [
      { ...change, name: '/other' },
    ]);
  });

  it('are raised for a branch that a command took back behind a Landing, or on from it', () => {
    for (const [before, after] of [
      ['b', 'a'],
      ['a', 'x'],
      ['b', 'x'],
    ] as const) {
      const changes = [
        { kind: 'ref', name: main, before, after },
        { kind: 'index', name: '/repo' },
      ] as const;
      assert.deepEqual(unexplained(changes, [landing]), changes);
    }
  });

  it('are raised for what else was changed meanwhile', () => {
    const stash = { kind: 'stash', name: 'refs/stash', after: 's' } as const;
    const change = { kind: 'ref', name: main, before: 'a', after: 'b' } as const;
    assert.deepEqual(unexplained([change, stash], [landing]), [stash]);
  });
});
