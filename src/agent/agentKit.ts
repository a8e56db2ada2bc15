import type { Answer } from '../model/answer';
import type { ContentBlock, Message, ModelParams, ToolSpec } from '../model/messages';
import type { TaskPacket } from '../model/packet';
import type { RunKind } from '../model/run';
import type { Transcript } from '../model/transcript';
import type { AgentLoop } from './agentLoop';
import type { LanguageModel } from './languageModel';
import type { ToolContext, ToolName, ToolSet } from './tools/tool';

/** What a role may do; fixed in code, cut further by nobody but the call itself. */
export interface AgentRole {
  readonly name: string;
  readonly tools: readonly ToolName[];
  readonly canWrite: boolean;
  readonly shell: 'any' | 'readOnly' | 'none';
  /** Longest silence of the model, in ms. */
  readonly silenceMs: number;
  readonly wantsDocs: boolean;
  readonly wantsGitStatus: boolean;
}

export interface AssembleRequest {
  readonly role: AgentRole;
  readonly model: string;
  readonly kind: RunKind;
  readonly packet: TaskPacket;
  readonly instruction: string;
  readonly place: { readonly directory: string; readonly branch?: string; readonly isWorktree: boolean };
  readonly today: string;
  readonly platform: string;
  readonly docs?: string;
  readonly gitStatus?: string;
  /** For those who judge: the host's own difference, never the author's words. */
  readonly diff?: { readonly patch: string; readonly files: readonly string[] };
}

export interface Assembled {
  readonly system: readonly ContentBlock[];
  readonly params: ModelParams;
  readonly message: readonly ContentBlock[];
}

/** All that a Run needs of the agent layer. */
export interface AgentKit {
  /** By name or alias. Throws `unknownAgent`, naming what there is. */
  role(name: string): AgentRole;
  /** The model a Run of this role uses. */
  modelFor(role: AgentRole, requested?: string): string;
  assemble(request: AssembleRequest): Assembled;
  toolSet(role: AgentRole, context: ToolContext): Promise<ToolSet>;
  /** What the model is told of the role's tools; the same bytes for every Run of the role. */
  toolSpecs(role: AgentRole): Promise<readonly ToolSpec[]>;
  /** The messages a transcript stands for, complete and valid: every call has its one result. */
  conversation(transcript: Transcript): readonly Message[];
  parseAnswer(text: string): Answer;
  /** What to ask when the sections are missing; `undefined`: nothing to mend. */
  mend(text: string): string | undefined;
  /** Connects; throws `noCredentials`. */
  languageModel(): Promise<LanguageModel>;
  readonly loop: AgentLoop;
}
