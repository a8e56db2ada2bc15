import type * as vscode from 'vscode';
import type { Settings } from '../../model/settings';
import type { Announcer } from '../announcer';
import type { WindowBoards } from '../boards';
import type { ChangedFiles } from '../changedFiles';
import type { CommandConsent, Memory } from '../consent';
import type { Dialogs } from '../dialogs';
import type { OutputLog } from '../outputLog';
import type { PermissionInbox } from '../permissionInbox';
import type { ReviewState } from '../review/reviewState';
import type { Reviews } from '../review/reviews';
import type { ReviewTree } from '../review/reviewTree';
import type { ReviewView } from '../review/reviewView';
import type { Secrets } from '../secrets';
import type { TaskTree } from '../taskTree';
import type { TranscriptPanels } from '../transcript/transcriptPanels';
import type { TreeNode } from '../treeNodes';
import type { UnresolvedFiles } from '../unresolvedFiles';

/** What commands work with. */
export interface CommandContext {
  readonly boards: WindowBoards;
  readonly files: ChangedFiles;
  readonly tree: TaskTree;
  readonly view: vscode.TreeView<TreeNode>;
  readonly inbox: PermissionInbox;
  readonly consent: CommandConsent;
  readonly secrets: Secrets;
  readonly dialogs: Dialogs;
  readonly announcer: Announcer;
  readonly log: OutputLog;
  readonly transcripts: TranscriptPanels;
  readonly reviews: Reviews;
  /** The Task under review, and the view that shows its hunks. */
  readonly reviewState: ReviewState;
  readonly reviewTree: ReviewTree;
  readonly review: Pick<ReviewView, 'view'>;
  readonly unresolved: UnresolvedFiles;
  /** Remembers per workspace. */
  readonly memory: Memory;
  /** Where answers come from, by the settings. */
  readonly provider: () => Settings['model']['provider'];
  /** What a first Task could be in the repository at `root`, where the model knows only certain ones. */
  readonly suggestion: (root: string) => Promise<SuggestedTask | undefined>;
  /** Makes the sample repository in a fresh folder; answers the folder. */
  readonly makeSample: () => Promise<string>;
}

/** Filled in beforehand; the user may change it. */
export interface SuggestedTask {
  readonly objective: string;
  readonly checks: readonly string[];
}

/** One command; `argument` is whatever the editor hands over: a row of the tree, `{taskId, runId?}`, a file, nothing. */
export interface Command {
  readonly id: `tributary.${string}`;
  run(context: CommandContext, argument: unknown): Promise<void>;
}
