import assert from 'node:assert/strict';
import { scrubbedEnvironment } from '../../src/process/environment';
import { runCommand } from '../../src/process/runCommand';

describe('the environment of commands', () => {
  it('holds no key of ours or of a model, under whatever name', () => {
    const env = scrubbedEnvironment(
      {
        ANTHROPIC_API_KEY: 'sk-ant-secret',
        ANTHROPIC_AUTH_TOKEN: 'token-secret',
        ANTHROPIC_BASE_URL: 'http://x',
        anthropic_model: 'm',
        CLAUDE_CODE_OAUTH_TOKEN: 'oauth-secret',
        CLAUDECODE: '1',
        OPENAI_API_KEY: 'o',
        GEMINI_API_KEY: 'g',
        TRIBUTARY_HOME: 'x',
        MY_COPY: 'Bearer sk-ant-secret',
        STORED: 'from-the-keychain',
        GITHUB_TOKEN: 'gh',
        STRIPE_API_KEY: 'mine',
        PATH: '/bin',
      },
      {},
      ['from-the-keychain', ''],
    );
    assert.deepEqual(
      Object.keys(env)
        .filter((name) => !/PAGER|EDITOR|VISUAL|TERM|GIT_/.test(name))
        .sort(),
      ['GITHUB_TOKEN', 'PATH', 'STRIPE_API_KEY'],
    );
  });

  it('holds of GIT_* only configuration places, ssh, askpass and SSL', () => {
    const env = scrubbedEnvironment({
      GIT_DIR: 'x',
      GIT_WORK_TREE: 'x',
      GIT_INDEX_FILE: 'x',
      GIT_AUTHOR_NAME: 'x',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'x',
      GIT_EXTERNAL_DIFF: 'x',
      GIT_TRACE: '1',
      GIT_CONFIG_GLOBAL: 'a',
      GIT_CONFIG_SYSTEM: 'b',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_SSH: 'c',
      GIT_SSH_COMMAND: 'd',
      GIT_ASKPASS: 'e',
      GIT_SSL_CAINFO: 'f',
    });
    assert.deepEqual(
      Object.keys(env)
        .filter((name) => name.startsWith('GIT_'))
        .sort(),
      [
        'GIT_ASKPASS',
        'GIT_CONFIG_GLOBAL',
        'GIT_CONFIG_NOSYSTEM',
        'GIT_CONFIG_SYSTEM',
        'GIT_EDITOR',
        'GIT_MERGE_AUTOEDIT',
        'GIT_PAGER',
        'GIT_SEQUENCE_EDITOR',
        'GIT_SSH',
        'GIT_SSH_COMMAND',
        'GIT_SSL_CAINFO',
        'GIT_TERMINAL_PROMPT',
      ],
    );
  });

  it("holds nothing of the editor's own, and NODE_OPTIONS only outside of it", () => {
    const env = scrubbedEnvironment({
      VSCODE_PID: '1',
      ELECTRON_RUN_AS_NODE: '1',
      NODE_OPTIONS: '--require x',
      GIT_ASKPASS: '/editor/askpass.sh',
      BASH_ENV: 'x',
      'BASH_FUNC_git%%': '() { :; }',
    });
    for (const name of ['VSCODE_PID', 'ELECTRON_RUN_AS_NODE', 'NODE_OPTIONS', 'GIT_ASKPASS', 'BASH_ENV']) {
      assert.equal(env[name], undefined, name);
    }
    assert.equal(env['BASH_FUNC_git%%'], undefined);
    assert.equal(scrubbedEnvironment({ NODE_OPTIONS: '--x' })['NODE_OPTIONS'], '--x');
  });

  it('has no pager, no editor and no prompt, and lays extra over everything', async () => {
    const env = scrubbedEnvironment(
      { ...process.env, PAGER: 'less', EDITOR: 'vim' },
      { EXTRA: '1', TERM: 'x' },
    );
    const result = await runCommand({
      command: {
        kind: 'shell',
        text: 'echo "$PAGER $GIT_PAGER $EDITOR $GIT_EDITOR $GIT_TERMINAL_PROMPT $TERM $EXTRA"',
      },
      cwd: process.cwd(),
      env,
    });
    assert.equal(result.output, 'cat cat : : 0 x 1\n');
  });
});
