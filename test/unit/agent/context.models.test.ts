import assert from 'node:assert/strict';
import { paramsFor, resolveBaseUrl, resolveCredentials, resolveModel } from '../../../src/agent/modelTable';
import { type Settings, settingsSchema } from '../../../src/model/settings';

const settings = (model: Partial<Settings['model']> = {}): Settings['model'] =>
  settingsSchema.parse({ model }).model;
const main = { model: 'main' } as const;
const small = { model: 'small' } as const;

describe('the choice of a model', () => {
  it('is `--model`, then the setting, then ANTHROPIC_MODEL, then ours', () => {
    const env = { ANTHROPIC_MODEL: 'from-env' };
    const all = { cliModel: 'from-cli', role: main, settings: settings({ main: 'from-setting' }), env };
    assert.equal(resolveModel(all), 'from-cli');
    assert.equal(resolveModel({ ...all, cliModel: '' }), 'from-setting');
    assert.equal(resolveModel({ role: main, settings: settings(), env }), 'from-env');
    assert.equal(resolveModel({ role: main, settings: settings(), env: {} }), 'claude-sonnet-5-5');
    assert.equal(
      resolveModel({ role: main, settings: settings(), env: { ANTHROPIC_MODEL: ' ' } }),
      'claude-sonnet-5-5',
    );
  });

  it('is main for a role that inherits, in a root', () => {
    assert.equal(
      resolveModel({ role: { model: 'inherit' }, settings: settings({ main: 'm' }), env: {} }),
      'm',
    );
  });

  it('is the small one for a small role, and with another base URL main, unless one is set', () => {
    const other = {
      role: small,
      settings: settings({ main: 'm' }),
      env: {},
      baseUrl: 'https://gateway.test',
    };
    assert.equal(
      resolveModel({ role: small, settings: settings({ main: 'm' }), env: {} }),
      'claude-haiku-5-5',
    );
    assert.equal(resolveModel({ ...other, baseUrl: 'https://api.anthropic.com/' }), 'claude-haiku-5-5');
    assert.equal(resolveModel(other), 'm');
    assert.equal(resolveModel({ ...other, settings: settings({ small: 's' }) }), 's');
    assert.equal(resolveModel({ ...other, cliModel: 'c' }), 'c');
  });
});

describe('credentials and base URL', () => {
  it('take the token where both are set, and never both', () => {
    assert.deepEqual(resolveCredentials({ ANTHROPIC_API_KEY: 'k', ANTHROPIC_AUTH_TOKEN: 't' }), {
      kind: 'authToken',
      value: 't',
    });
    assert.deepEqual(resolveCredentials({ ANTHROPIC_API_KEY: ' k\n', ANTHROPIC_AUTH_TOKEN: '' }), {
      kind: 'apiKey',
      value: 'k',
    });
    assert.deepEqual(resolveCredentials({ ANTHROPIC_API_KEY: 'k' }, 'stored'), {
      kind: 'apiKey',
      value: 'stored',
    });
    assert.equal(resolveCredentials({}), undefined);
  });

  it('take the setting before the environment', () => {
    const env = { ANTHROPIC_BASE_URL: 'https://env.test' };
    assert.equal(resolveBaseUrl(settings({ baseUrl: 'https://setting.test' }), env), 'https://setting.test');
    assert.equal(resolveBaseUrl(settings(), env), 'https://env.test');
    assert.equal(resolveBaseUrl(settings(), {}), undefined);
  });
});

describe('paramsFor', () => {
  it('adds adaptive thinking and effort only for models in the table', () => {
    assert.deepEqual(paramsFor('claude-opus-5-5', 32_000), {
      model: 'claude-opus-5-5',
      maxTokens: 32_000,
      thinking: { type: 'adaptive', display: 'summarized' },
      effort: 'high',
    });
    for (const model of ['claude-haiku-4-5', 'claude-opus-4-5', 'gateway/x', 'constructor', 'toString']) {
      assert.deepEqual(paramsFor(model, 10), { model, maxTokens: 10 });
    }
  });
});
