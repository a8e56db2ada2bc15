import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LanguageModel } from './agent/languageModel';
import { resolveBaseUrl } from './agent/modelTable';
import { findRipgrep } from './agent/tools/ripgrep';
import { TributaryError } from './base/errors';
import type { CorePorts, Credentials } from './composeCore';
import type { Changes } from './git/changes';
import type { RepositoryFacts } from './git/repository';
import type { Snapshots } from './git/snapshots';
import { baseOf } from './model/movedBase';
import { demoModelName, type Settings } from './model/settings';
import { scrubbedEnvironment } from './process/environment';
import { ownerMarkerVariable, runMarkerVariable } from './process/processTree';
import type { RunCommand } from './process/runCommand';
import type { Store } from './store/store';
import type { RunSupervisorDeps } from './tasks/runSupervisor';

/** Marks what it starts with this process's boot id, so that it can be found and ended when we are killed. */
export function markedBy(bootId: string, runCommand: RunCommand): RunCommand {
  return (request) => runCommand({ ...request, env: { ...request.env, [ownerMarkerVariable]: bootId } });
}

/** What commands of agents and Checks see of the environment: no key, no pager, no editor, the marks of Run and owner. */
export function commandEnvironment(
  ports: CorePorts,
  bootId: string,
  of: { readonly taskId: string; readonly runId: string; readonly scratch?: string },
): Record<string, string> {
  const scratch = of.scratch === undefined ? {} : { TRIBUTARY_SCRATCH: of.scratch, TMPDIR: of.scratch };
  return scrubbedEnvironment(ports.env, {
    TRIBUTARY_TASK: of.taskId,
    [runMarkerVariable]: of.runId,
    [ownerMarkerVariable]: bootId,
    ...quietGit,
    ...scratch,
  });
}

/** What a user may have switched on for themselves and what would reach other branches, or the stash, from a Worktree. */
const quietGit: Readonly<Record<string, string>> = {
  GIT_CONFIG_COUNT: '3',
  GIT_CONFIG_KEY_0: 'rebase.updateRefs',
  GIT_CONFIG_VALUE_0: 'false',
  GIT_CONFIG_KEY_1: 'rebase.autoStash',
  GIT_CONFIG_VALUE_1: 'false',
  GIT_CONFIG_KEY_2: 'merge.autoStash',
  GIT_CONFIG_VALUE_2: 'false',
};

/** Builds what the tools of a Run need of machine and repository. */
export function toolSurroundings(parts: {
  readonly ports: CorePorts;
  readonly bootId: string;
  readonly store: Store;
  readonly facts: RepositoryFacts;
  readonly changes: Changes;
  readonly snapshots: Snapshots;
}): RunSupervisorDeps['toolContext'] {
  const { ports, bootId, store, facts, changes, snapshots } = parts;
  let ripgrep: Promise<string> | undefined;
  return async ({ task, run, role, place, scratch }) => {
    ripgrep ??= findRipgrep(undefined, ports.env);
    const base = baseOf(task);
    return {
      root: place.root,
      ...(place.isWorktree ? { mainCheckout: task.packet.repository.root } : {}),
      commonDir: facts.commonDir,
      scope: task.packet.scope,
      canWrite: role.canWrite,
      shell: role.shell,
      allowedCommands: task.packet.acceptanceTests.map((test) => test.command),
      commandEnv: commandEnvironment(ports, bootId, {
        taskId: task.id,
        runId: run.id,
        ...(scratch === undefined ? {} : { scratch }),
      }),
      outDirectory: store.transcripts.outDirectory(task.id, run.id),
      readState: { seen: new Map() },
      ripgrepPath: await ripgrep,
      diff: async (path) =>
        (await changes.patch(base, await snapshots.treeOf(place.root), path)).toString('utf8'),
    };
  };
}

/** The settings as they work out: the demo's model goes by its own name everywhere, so that nobody takes it for a real one. */
export function effectiveSettings(settings: Settings): Settings {
  if (settings.model.provider !== 'demo') return settings;
  return { ...settings, model: { ...settings.model, main: demoModelName, small: demoModelName } };
}

/**
 * The connection for a Run that begins now: the last one while key and address are the same, else a new one. A
 * failure is tried again by the next. The demo's server lives as long as the process.
 */
export function modelConnection(ports: CorePorts): () => Promise<LanguageModel> {
  let demo: Promise<LanguageModel> | undefined;
  let last: { readonly to: ConnectTo; readonly model: Promise<LanguageModel> } | undefined;
  return async () => {
    const { model } = ports.settings();
    if (model.provider === 'demo') {
      demo ??= connectDemo().catch((error: unknown) => {
        demo = undefined;
        throw error;
      });
      return demo;
    }
    const credentials = await ports.credentials();
    if (credentials === undefined) throw new TributaryError('noCredentials', 'no key and no token is set');
    const to = { credentials, baseUrl: resolveBaseUrl(model, ports.env) };
    if (last === undefined || !isSame(last.to, to)) last = { to, model: connect(to) };
    return last.model;
  };
}

interface ConnectTo {
  readonly credentials: Credentials;
  readonly baseUrl: string | undefined;
}

function isSame(a: ConnectTo, b: ConnectTo): boolean {
  const [one, other] = [a.credentials, b.credentials];
  return a.baseUrl === b.baseUrl && one.kind === other.kind && one.value === other.value;
}

async function connect({ credentials, baseUrl }: ConnectTo): Promise<LanguageModel> {
  const { createAnthropicModel } = await import('./agent/anthropicModel');
  const model = createAnthropicModel({ credentials, ...(baseUrl === undefined ? {} : { baseUrl }) });
  // While git makes the Worktree; a failure comes again with the first request.
  model.warm().catch(() => undefined);
  return model;
}

async function connectDemo(): Promise<LanguageModel> {
  const [{ createAnthropicModel }, { startDemoServer }, { samplePlaybook }] = await Promise.all([
    import('./agent/anthropicModel'),
    import('./demo/demoServer'),
    import('./demo/samplePlaybook'),
  ]);
  const server = await startDemoServer({ playbooks: [samplePlaybook], delayMs: 15 });
  return createAnthropicModel({ credentials: { kind: 'apiKey', value: 'demo' }, baseUrl: server.baseUrl });
}

/** A folder of a Run's own, for what it makes while it checks. */
export async function makeScratch(): Promise<{ directory: string; dispose: () => Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'tributary-scratch-'));
  return { directory, dispose: () => rm(directory, { recursive: true, force: true }) };
}
