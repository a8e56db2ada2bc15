import assert from 'node:assert/strict';
import { settingsFrom } from '../../../src/editor/settingsFrom';
import { settingsSchema } from '../../../src/model/settings';

describe('settings as the editor gives them', () => {
  it('are the defaults where nothing is set', () => {
    const empty = {
      model: { baseUrl: '', main: ' ', small: '', apiTimeoutSeconds: null },
      worktrees: { root: '' },
    };
    for (const raw of [undefined, {}, empty])
      assert.deepEqual(settingsFrom(raw), { settings: settingsSchema.parse({}), problems: [] });
  });

  it('are taken as they are where they can be', () => {
    const { settings, problems } = settingsFrom({
      model: { provider: 'demo', baseUrl: 'https://gateway.example.org', maxOutputTokens: 5 },
      resume: 'never',
      maxConcurrentRuns: 3,
    });
    assert.deepEqual(problems, []);
    assert.equal(settings.model.provider, 'demo');
    assert.equal(settings.model.baseUrl, 'https://gateway.example.org');
    assert.equal(settings.resume, 'never');
    assert.equal(settings.maxConcurrentRuns, 3);
  });

  it('lose only the value that is wrong, and say which', () => {
    const { settings, problems } = settingsFrom({
      model: { provider: 'demo', baseUrl: 'not a url', maxOutputTokens: -1 },
      maxConcurrentRuns: 99,
    });
    assert.equal(settings.model.provider, 'demo');
    assert.equal(settings.model.baseUrl, undefined);
    assert.equal(settings.model.maxOutputTokens, 32_000);
    assert.equal(settings.maxConcurrentRuns, 10);
    assert.deepEqual(problems.map((one) => one.split(':')[0]).sort(), [
      'maxConcurrentRuns',
      'model.baseUrl',
      'model.maxOutputTokens',
    ]);
  });

  it('come to an end whatever they are', () => {
    for (const raw of ['x', 3, [], { model: 'x' }, { model: [], verify: 7, worktrees: { root: {} } }])
      assert.deepEqual(settingsFrom(raw).settings, settingsSchema.parse({}));
  });
});
