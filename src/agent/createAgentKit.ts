import type { Settings } from '../model/settings';
import type { AgentKit, AgentRole } from './agentKit';
import { agentLoop } from './agentLoop';
import { mendRequest, parseAnswer } from './context/answer';
import { assemble } from './context/assemble';
import { rebuildMessages } from './context/rebuildMessages';
import type { LanguageModel } from './languageModel';
import { resolveBaseUrl, resolveModel } from './modelTable';
import { type Role, resolveRole } from './roles/roles';

export interface AgentKitDeps {
  readonly settings: () => Settings;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The connection that a Run which begins now is to use; throws `noCredentials`. */
  readonly languageModel: () => Promise<LanguageModel>;
}

export function createAgentKit(deps: AgentKitDeps): AgentKit {
  const { settings, env } = deps;
  return {
    role: (name) => withSilence(resolveRole(name), settings().model.apiTimeoutSeconds),
    modelFor: (role, requested) => {
      const { model } = settings();
      const baseUrl = resolveBaseUrl(model, env);
      return resolveModel({
        role: resolveRole(role.name),
        settings: model,
        env,
        ...(requested === undefined ? {} : { cliModel: requested }),
        ...(baseUrl === undefined ? {} : { baseUrl }),
      });
    },
    assemble: (request) =>
      assemble(request, resolveRole(request.role.name), settings().model.maxOutputTokens),
    toolSet: async (role, context) => (await tools()).createToolSet(role.tools, context),
    toolSpecs: async (role) => (await tools()).toolSpecs(role.tools),
    conversation: rebuildMessages,
    parseAnswer,
    mend: mendRequest,
    languageModel: () => {
      // Whoever connects is about to run an agent.
      tools().catch(() => undefined);
      return deps.languageModel();
    },
    loop: agentLoop,
  };
}

/** Loaded by the first Run: most commands of the command line have no use for them. */
function tools(): Promise<typeof import('./tools/toolSet')> {
  return import('./tools/toolSet');
}

/** The setting replaces the usual limit; for those who judge it can only lengthen theirs. */
function withSilence(role: Role, seconds: number | undefined): AgentRole {
  if (seconds === undefined) return role;
  const silenceMs = role.judges ? Math.max(role.silenceMs, seconds * 1000) : seconds * 1000;
  return { ...role, silenceMs };
}
