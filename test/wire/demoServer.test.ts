import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { interruptedText } from '../../src/agent/context/toolResults';
import { type DemoServer, startDemoServer } from '../../src/demo/demoServer';
import type { Playbook } from '../../src/demo/playbook';
import { samplePlaybook } from '../../src/demo/samplePlaybook';
import { createSampleRepository, sampleFiles, sampleTestCommand } from '../../src/demo/sampleRepository';
import { type Message, toolUsesOf } from '../../src/model/messages';
import type { RunKind } from '../../src/model/run';
import type { Verdict } from '../../src/model/verdict';
import { judge } from '../../src/verify/judge';
import { type DrivenRun, drive, shell, writeProject } from '../fakes/demoDriver';
import { generatePlaybook } from '../fakes/generatedPlaybook';

const seeds = process.env['TRIBUTARY_LONG'] ? 60 : 2;

describe('The demo server through the real SDK and the real tools', () => {
  let root = '';
  let server: DemoServer;
  let client: Anthropic;
  const objective = samplePlaybook.objective;

  async function serve(playbooks: readonly Playbook[], delayMs = 0): Promise<void> {
    await server?.dispose();
    server = await startDemoServer({ playbooks, delayMs });
    client = new Anthropic({ apiKey: 'demo', authToken: null, baseURL: server.baseUrl, maxRetries: 0 });
  }

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'tributary demo '));
    await serve([samplePlaybook]);
  });
  afterEach(async () => {
    await server.dispose();
    await rm(root, { recursive: true, force: true });
  });

  function verdictOf(run: DrivenRun, files: readonly string[], suite: string): Verdict {
    return judge({
      runId: 'run',
      tree: 't',
      at: 'now',
      verifier: { ...run, tampered: [] },
      hostChecks: [],
      suiteCommands: [suite],
      files: new Set(files),
      worktreeRoot: root,
    });
  }

  /** The lines of the edited file that an answer names as its evidence. */
  async function evidenceOf(run: DrivenRun): Promise<string> {
    const [, from, to] = /- src\/duration\.js:(\d+)-(\d+)/.exec(run.answer) ?? [];
    const lines = (await readFile(join(root, 'src/duration.js'), 'utf8')).split('\n');
    const named = lines.slice(Number(from) - 1, Number(to)).join('\n');
    assert.doesNotMatch(named, /export function|^}/m);
    return named;
  }

  it('plays the story of the sample: broken edge, FAIL at the line, fix, PASS, all by real commands', async () => {
    await writeProject(root, sampleFiles);
    const files = Object.keys(sampleFiles);
    const first = await drive({ client, root, agent: 'general', kind: 'first', objective });
    assert.match(
      first.answer,
      /^SUMMARY: [\s\S]*\nCHANGES:\n- src\/duration\.js[\s\S]*\nEVIDENCE:[\s\S]*\nRISKS:[\s\S]*\nBLOCKERS:\nNone\.$/,
    );
    assert.match(await evidenceOf(first), /matchAll/);

    const broken = verdictOf(
      await drive({ client, root, agent: 'verification', kind: 'verify', objective }),
      files,
      sampleTestCommand,
    );
    assert.equal(broken.verdict, 'FAIL');
    assert.equal(broken.stated, 'FAIL');
    const [finding, ...more] = broken.findings;
    assert.equal(more.length, 0);
    const source = (await readFile(join(root, 'src/duration.js'), 'utf8')).split('\n');
    assert.equal(finding?.location?.path, 'src/duration.js');
    assert.match(source[(finding?.location?.line ?? 0) - 1] ?? '', /matchAll/);
    assert.match(finding?.detail ?? '', /"abc" gave 0/);

    const fix = await drive({ client, root, agent: 'general', kind: 'fix', objective });
    assert.match(fix.answer, /BLOCKERS:\nNone\.$/);
    assert.match(await evidenceOf(fix), /throw new Error/);
    const mended = verdictOf(
      await drive({ client, root, agent: 'verification', kind: 'verify', objective }),
      files,
      sampleTestCommand,
    );
    assert.deepEqual([mended.verdict, mended.reasons, mended.findings], ['PASS', [], []]);
    assert.ok(mended.checks.every((check) => check.evidence === 'bound'));
  });

  it('gives the verdict that the commands give, not one that the script expects', async () => {
    await writeProject(root, sampleFiles);
    const files = Object.keys(sampleFiles);
    const verify = () => drive({ client, root, agent: 'verification', kind: 'verify', objective });
    const untouched = verdictOf(await verify(), files, sampleTestCommand);
    assert.equal(untouched.verdict, 'FAIL');
    await writeProject(root, {
      'src/duration.js': [
        'export function parseDuration(text) {',
        "  if (!/^\\s*(?:\\d+[hms])+\\s*$/.test(text)) throw new Error('no duration');",
        '  const pairs = [...text.matchAll(/(\\d+)([hms])/g)];',
        '  return pairs.reduce((sum, pair) => sum + pair[1] * { h: 3600, m: 60, s: 1 }[pair[2]], 0);',
        '}',
      ].join('\n'),
    });
    assert.equal(verdictOf(await verify(), files, sampleTestCommand).verdict, 'PASS');
  });

  it('says honestly that nothing was run when commands are denied', async () => {
    await writeProject(root, sampleFiles);
    const first = await drive({ client, root, agent: 'general', kind: 'first', objective, mayRun: false });
    assert.match(
      first.answer,
      /could not be run[\s\S]*BLOCKERS:\n- The command was not run to its end: it was not allowed/,
    );
    assert.equal(first.commands.length, 0);
    const verify = await drive({
      client,
      root,
      agent: 'verification',
      kind: 'verify',
      objective,
      mayRun: false,
    });
    const verdict = verdictOf(verify, Object.keys(sampleFiles), sampleTestCommand);
    assert.equal(verdict.verdict, 'PARTIAL');
    assert.deepEqual(
      verdict.checks.map((check) => check.result),
      ['skip'],
    );
  });

  it('goes on in a new process from the messages alone, also when the last call took effect unseen', async () => {
    await writeProject(root, sampleFiles);
    const start = { client, root, agent: 'general', kind: 'first', objective } as const;
    // The third turn is the edit.
    const begun = await drive({ ...start, stopAfterTurns: 3 });
    await serve([samplePlaybook]);
    const results = toolUsesOf(begun.messages.at(-1)?.content ?? []).map((use) => ({
      type: 'tool_result',
      tool_use_id: use.id,
      content: interruptedText,
      is_error: true,
    }));
    assert.ok(results.length > 0);
    const messages: Message[] = [...begun.messages, { role: 'user', content: results }];
    const rest = await drive({ ...start, client, messages });
    assert.match(rest.answer, /BLOCKERS:\nNone\.$/);
    assert.deepEqual(
      rest.commands.map((command) => command.exitCode),
      [0],
    );
  });

  it('lets explore read and answer with lines that are right', async () => {
    await writeProject(root, sampleFiles);
    const run = await drive({ client, root, agent: 'explore', kind: 'first', objective });
    const line = Number(/src\/duration\.js:(\d+)/.exec(run.answer)?.[1]);
    assert.match(
      sampleFiles['src/duration.js']?.split('\n')[line - 1] ?? '',
      /export function parseDuration/,
    );
    assert.equal(run.commands.length, 0);
  });

  it('tells another objective that it is none of its own, in one message, with nothing done', async () => {
    const run = await drive({ client, root, agent: 'general', kind: 'first', objective: 'Write me a poem' });
    assert.equal(run.messages.length, 2);
    assert.match(run.answer, /CHANGES:\nNone\./);
    assert.ok(run.answer.includes(`BLOCKERS:\n- The demo plays only: "${objective}"`));
    const verify = await drive({
      client,
      root,
      agent: 'verification',
      kind: 'verify',
      objective: 'Write me a poem',
    });
    assert.match(verify.answer, /\nVERDICT: PARTIAL$/);
  });

  it('streams text in several pieces and counts tokens by the length of the request', async () => {
    const pieces: string[] = [];
    const stream = client.messages.stream({
      model: 'demo-scripted',
      max_tokens: 100,
      messages: [{ role: 'user', content: `Objective: none\n${'x'.repeat(4_000)}` }],
    });
    stream.on('text', (piece) => pieces.push(piece));
    const message = await stream.finalMessage();
    assert.ok(pieces.length > 5);
    assert.deepEqual(message.content, [{ type: 'text', text: pieces.join('') }]);
    assert.equal(message.model, 'demo-scripted');
    assert.equal(message.stop_reason, 'end_turn');
    assert.ok(message.usage.input_tokens > 1_000 && message.usage.input_tokens < 1_200);
    assert.ok(message.usage.output_tokens > 50);
    assert.equal(message.usage.cache_read_input_tokens, 0);
  });

  it('gives the same message with and without streaming', async () => {
    const request = {
      model: 'demo-scripted',
      max_tokens: 100,
      system: 'Agent: general',
      messages: [{ role: 'user', content: `Objective: ${objective}` }],
    } satisfies Anthropic.MessageCreateParamsNonStreaming;
    const whole = await client.messages.create(request);
    const streamed = await client.messages.stream(request).finalMessage();
    assert.deepEqual(streamed.content, whole.content);
    assert.equal(whole.stop_reason, 'tool_use');
    assert.equal(streamed.usage.output_tokens, whole.usage.output_tokens);
  });

  it('refuses with 400 what the API would refuse', async () => {
    await assert.rejects(
      client.messages.create({
        model: 'demo-scripted',
        max_tokens: 10,
        messages: [{ role: 'assistant', content: 'x' }],
      }),
      (error: unknown) => error instanceof Anthropic.BadRequestError && /first message/.test(error.message),
    );
    await assert.rejects(client.models.list(), Anthropic.NotFoundError);
    const broken = await fetch(`${server.baseUrl}/v1/messages`, { method: 'POST', body: '{' });
    assert.equal(broken.status, 400);
  });

  it('ends open streams when it is disposed, and frees its port', async () => {
    await serve([samplePlaybook], 60_000);
    const stream = client.messages.stream({
      model: 'demo-scripted',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Objective: none' }],
    });
    const failed = stream.finalMessage().then(
      () => 'ended',
      () => 'cut',
    );
    await new Promise((resolve) => stream.once('streamEvent', resolve));
    await Promise.all([server.dispose(), server.dispose()]);
    assert.equal(await failed, 'cut');
    await assert.rejects(fetch(server.baseUrl));
  });

  it('goes on serving after a client went away in the middle', async () => {
    await serve([samplePlaybook], 5);
    const stream = client.messages.stream({
      model: 'demo-scripted',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Objective: none' }],
    });
    const cut = assert.rejects(stream.finalMessage());
    stream.once('text', () => stream.abort());
    await cut;
    await writeProject(root, sampleFiles);
    const run = await drive({ client, root, agent: 'explore', kind: 'first', objective });
    assert.match(run.answer, /^SUMMARY:/);
  });

  it('refuses a playbook that leads nowhere', async () => {
    const broken: Playbook = {
      id: 'broken',
      objective: 'x',
      scenes: [
        {
          agents: ['general'],
          when: 'any',
          steps: [{ id: 'a', say: '', calls: [{ name: 'Diff', input: {} }], next: [{ to: 'b' }] }],
        },
      ],
    };
    await assert.rejects(startDemoServer({ playbooks: [broken] }), /leads to "b"/);
  });

  it('plays a playbook that was generated a moment ago over a project generated with it', async () => {
    const start = process.env['TRIBUTARY_SEED']
      ? Number(process.env['TRIBUTARY_SEED'])
      : Date.now() % 1_000_000;
    for (let seed = start; seed < start + seeds; seed += 1) {
      const made = generatePlaybook(seed);
      const project = join(root, String(seed));
      await writeProject(project, made.files);
      await serve([samplePlaybook, made.playbook]);
      const play = (agent: string, kind: RunKind) =>
        drive({ client, root: project, agent, kind, objective: made.objective });
      const verify = async () =>
        verdictOf(await play('verification', 'verify'), Object.keys(made.files), made.checkCommand);
      assert.equal((await shell(made.checkCommand, project)).exitCode, 1, `seed ${seed}`);
      await play('general', 'first');
      assert.equal((await shell(made.checkCommand, project)).exitCode, 0, `seed ${seed}`);
      const broken = await verify();
      assert.equal(broken.verdict, 'FAIL', `seed ${seed}`);
      assert.deepEqual(broken.findings[0]?.location, made.finding, `seed ${seed}`);
      await play('general', 'fix');
      const mended = await verify();
      assert.deepEqual([mended.verdict, mended.reasons], ['PASS', []], `seed ${seed}`);
    }
  });
});

describe('The sample repository', () => {
  let root = '';
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'tributary sample '));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('is one commit on main, made without the user’s name, with a test that fails', async () => {
    const directory = join(root, 'new', 'folder');
    const git = async (args: readonly string[], cwd: string): Promise<void> => {
      const quoted = args.map((arg) => `'${arg}'`).join(' ');
      const { exitCode, output } = await shell(
        `HOME=${JSON.stringify(root)} GIT_CONFIG_NOSYSTEM=1 git ${quoted}`,
        cwd,
      );
      assert.equal(exitCode, 0, output);
    };
    const files = await createSampleRepository(directory, { git });
    assert.deepEqual(files, Object.keys(sampleFiles));
    const { output } = await shell(
      'git log --format=%an:%s main && git status --porcelain && git ls-files',
      directory,
    );
    assert.deepEqual(output.trim().split('\n'), [
      'Tributary demo:A kitchen timer',
      ...Object.keys(sampleFiles).sort(),
    ]);
    assert.notEqual((await shell(sampleTestCommand, directory)).exitCode, 0);
  });
});
