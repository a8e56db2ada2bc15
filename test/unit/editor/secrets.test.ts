import assert from 'node:assert/strict';
import { Emitter } from '../../../src/base/emitter';
import { TributaryError } from '../../../src/base/errors';
import { silentLogger } from '../../../src/base/logger';
import type { Credentials } from '../../../src/composeCore';
import { logText } from '../../../src/editor/logText';
import { Secrets } from '../../../src/editor/secrets';

function makeSecrets(environment?: Credentials): { secrets: Secrets; stored: Map<string, string> } {
  const stored = new Map<string, string>();
  const changed = new Emitter<{ readonly key: string }>();
  const box = {
    get: async (key: string) => stored.get(key),
    store: async (key: string, value: string) => {
      stored.set(key, value);
      changed.fire({ key });
    },
    delete: async (key: string) => {
      stored.delete(key);
      changed.fire({ key });
    },
    onDidChange: changed.event,
  };
  const kept = new Map<string, unknown>();
  const memory = {
    get: (key: string) => kept.get(key),
    update: async (key: string, value: unknown) => void kept.set(key, value),
  };
  const secrets = new Secrets({ box, fromEnvironment: () => environment, memory, logger: silentLogger });
  return { secrets, stored };
}

describe('the key of the model', () => {
  it('is the stored one, else the environment’s, else none', async () => {
    const environment = { kind: 'authToken', value: 'from-environment' } as const;
    const { secrets } = makeSecrets(environment);
    assert.deepEqual(await secrets.credentials(), environment);
    await secrets.setKey('  stored-key\n');
    assert.deepEqual(await secrets.credentials(), { kind: 'apiKey', value: 'stored-key' });
    await secrets.clearKey();
    assert.deepEqual(await secrets.credentials(), environment);
    assert.equal(await makeSecrets().secrets.credentials(), undefined);
  });

  it('tells when it changes, here or in another window', async () => {
    const { secrets } = makeSecrets();
    let changes = 0;
    secrets.onDidChange(() => {
      changes += 1;
    });
    await secrets.setKey('k');
    await secrets.clearKey();
    assert.equal(changes, 2);
  });

  it('is known to be forgotten when the editor lost it, not when the user removed it or never gave one', async () => {
    const { secrets, stored } = makeSecrets();
    assert.equal(await secrets.isForgotten(), false);
    await secrets.setKey('k');
    assert.equal(await secrets.isForgotten(), false);
    stored.clear();
    assert.equal(await secrets.isForgotten(), true);
    await secrets.setKey('k');
    await secrets.clearKey();
    assert.equal(await secrets.isForgotten(), false);
  });

  it('is blotted out of every line of the log', async () => {
    const { secrets } = makeSecrets();
    await secrets.setKey('very-secret');
    const error = new TributaryError('wrongKey', 'the server refused very-secret', {
      cause: new Error('inner sk-ant-api03-abcdefghijk'),
      details: { header: 'Bearer very-secret' },
    });
    const line = secrets.redact(logText('a run failed', { error }));
    assert.ok(!line.includes('very-secret'), line);
    assert.ok(!line.includes('sk-ant-api03'), line);
    assert.match(line, /wrongKey: the server refused \[key\]/);
    assert.match(line, /caused by/);
  });
});

describe('a line of the log', () => {
  it('has the chain of causes, and ends with one that bites its tail', () => {
    const first = new Error('first');
    const second = new TributaryError('internal', 'second', { cause: first });
    first.cause = second;
    const line = logText('x', { error: second });
    assert.match(line, /^x error=internal: second/);
    assert.ok(line.split('caused by').length < 20);
  });

  it('takes facts of any kind', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    assert.equal(logText('m', { a: 1, b: 'two', c: { d: [true] } }), 'm a=1 b=two c={"d":[true]}');
    assert.match(logText('m', { circle }), /^m circle=/);
  });
});
