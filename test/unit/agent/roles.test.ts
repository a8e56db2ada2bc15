import assert from 'node:assert/strict';
import { createAgentKit } from '../../../src/agent/createAgentKit';
import { resolveRole, roles, systemBlocks } from '../../../src/agent/roles/roles';
import { TributaryError } from '../../../src/base/errors';
import { settingsSchema } from '../../../src/model/settings';

describe('roles', () => {
  it('are found by name and alias, in any case', () => {
    for (const [name, expected] of [
      ['general', 'general'],
      ['General-Purpose', 'general'],
      [' worker ', 'general'],
      ['DEFAULT', 'general'],
      ['explorer', 'explore'],
      ['exploration', 'explore'],
      ['verify', 'verification'],
      ['Verifier', 'verification'],
    ] as const) {
      assert.equal(resolveRole(name).name, expected);
    }
  });

  it('names what there is and what is near when a name is unknown', () => {
    for (const [name, near] of [
      ['explroe', ['explore']],
      ['verif', ['verification']],
      ['genral', ['general']],
      ['banana', []],
      ['', []],
    ] as const) {
      assert.throws(
        () => resolveRole(name),
        (error: unknown) => {
          assert.ok(error instanceof TributaryError);
          assert.equal(error.code, 'unknownAgent');
          assert.match(error.message, /general, explore, verification/);
          assert.deepEqual(error.details['near'], near);
          return true;
        },
      );
    }
  });

  it('have no name or alias twice', () => {
    const names = roles.flatMap((role) => [role.name, ...role.aliases]);
    assert.equal(new Set(names).size, names.length);
  });

  it('may write only where they have tools to write, and the other way round', () => {
    for (const role of roles) {
      assert.equal(role.tools.includes('Write'), role.canWrite, role.name);
      assert.equal(role.tools.includes('Edit'), role.canWrite, role.name);
      assert.equal(role.tools.includes('Bash'), role.shell !== 'none', role.name);
      assert.ok(role.tools.includes('Diff'), role.name);
    }
  });

  it('leave explore a reading shell and the small model, and only the verifier the reports', () => {
    assert.equal(resolveRole('explore').shell, 'readOnly');
    assert.equal(resolveRole('explore').model, 'small');
    for (const role of roles) {
      const reports = role.tools.filter((tool) => tool.startsWith('Report'));
      assert.equal(reports.length, role.name === 'verification' ? 2 : 0, role.name);
    }
  });

  it('have prompts that ask for the five sections and stay short', () => {
    for (const role of roles) {
      const text = systemBlocks(role)
        .map((block) => String(block['text']))
        .join('\n');
      for (const name of ['SUMMARY', 'CHANGES', 'EVIDENCE', 'RISKS', 'BLOCKERS'])
        assert.match(text, new RegExp(name));
      assert.ok(text.split(/\s+/).length < 900, role.name);
      assert.ok(role.prompt.split(/\s+/).length < 500, role.name);
    }
  });

  it('have system prompts without anything that varies between Tasks, folders or days', () => {
    for (const role of roles) {
      const text = systemBlocks(role)
        .map((block) => String(block['text']))
        .join('\n');
      assert.doesNotMatch(text, /\b20\d\d\b|\/home\/|\/Users\/|\$\{|\{\{/);
    }
  });

  it('show the verifier no line that reads as a verdict itself', () => {
    const text = resolveRole('verification').prompt;
    assert.doesNotMatch(text, /^\W*VERDICT:\s*(?:PASS|FAIL|PARTIAL)/m);
    assert.match(text, /break it/);
  });

  it('wait 120 s in silence, and 900 s for those who judge, unless a setting says longer', () => {
    const kit = (seconds?: number) =>
      createAgentKit({
        settings: () =>
          settingsSchema.parse({ model: seconds === undefined ? {} : { apiTimeoutSeconds: seconds } }),
        env: {},
        languageModel: () => Promise.reject(new Error('unused')),
      });
    assert.equal(kit().role('general').silenceMs, 120_000);
    assert.equal(kit().role('verify').silenceMs, 900_000);
    assert.equal(kit(30).role('general').silenceMs, 30_000);
    assert.equal(kit(30).role('verify').silenceMs, 900_000);
    assert.equal(kit(1200).role('verify').silenceMs, 1_200_000);
  });
});
