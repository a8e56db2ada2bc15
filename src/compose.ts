import { join } from 'node:path';
import * as vscode from 'vscode';
import { resolveCredentials } from './agent/modelTable';
import { Activities } from './editor/activities';
import { AlarmNotices } from './editor/alarmNotices';
import { Announcer } from './editor/announcer';
import { WindowBoards } from './editor/boards';
import { ChangedFiles } from './editor/changedFiles';
import { registerCommands } from './editor/commands/commandTable';
import { CommandConsent } from './editor/consent';
import { type Dialogs, windowDialogs } from './editor/dialogs';
import { FindingActions } from './editor/findings/findingActions';
import { FindingDiagnostics } from './editor/findings/findingDiagnostics';
import { sayForgottenKey } from './editor/forgottenKey';
import { InboxNotices } from './editor/inboxNotices';
import { OutputLog } from './editor/outputLog';
import { OverlapMarks } from './editor/overlapMarks';
import { QuestionInbox } from './editor/permissionInbox';
import { ProblemNotices } from './editor/problemNotices';
import { Resumer } from './editor/resumer';
import { OwnRuns } from './editor/resuming';
import { ReviewState } from './editor/review/reviewState';
import { Reviews } from './editor/review/reviews';
import { ReviewTree } from './editor/review/reviewTree';
import { ReviewView } from './editor/review/reviewView';
import { TaskFileKey } from './editor/review/taskFileKey';
import { baseScheme, snapshotScheme, TaskFileSystem } from './editor/review/taskFileSystem';
import { RowMarks } from './editor/rowMarks';
import { Secrets } from './editor/secrets';
import { SeenView } from './editor/seenView';
import { EditorSettings } from './editor/settings';
import { SetupOutput, setupScheme } from './editor/setupOutput';
import { Surroundings } from './editor/surroundings';
import { SweepNotices } from './editor/sweepNotices';
import { TaskTree } from './editor/taskTree';
import { TranscriptPanels } from './editor/transcript/transcriptPanels';
import { UnresolvedFiles } from './editor/unresolvedFiles';
import type { StoreProblem } from './store/store';

/** What a test inside the editor looks at, and answers dialogs by. */
export interface Parts {
  readonly boards: WindowBoards;
  readonly tree: TaskTree;
  readonly view: vscode.TreeView<unknown>;
  readonly reviewTree: ReviewTree;
  readonly reviewState: ReviewState;
  readonly inbox: QuestionInbox;
  readonly consent: CommandConsent;
  readonly secrets: Secrets;
  readonly findings: FindingDiagnostics;
  /** Its members may be replaced. */
  readonly dialogs: { -readonly [K in keyof Dialogs]: Dialogs[K] };
}

export interface Composed {
  readonly parts: Parts;
  /** Interrupts the Runs of this window, waits until that is written, and gives everything back. */
  dispose(): Promise<void>;
}

/** The parts list of the extension. Costs a few reads of files: the core is loaded when a board is there or wanted. */
export function compose(context: vscode.ExtensionContext): Composed {
  const log = new OutputLog();
  const dialogs = { ...windowDialogs };
  const secrets = new Secrets({
    box: context.secrets,
    fromEnvironment: () => resolveCredentials(process.env),
    memory: context.globalState,
    logger: log,
  });
  log.redactWith((text) => secrets.redact(text));
  const announcer = new Announcer({ dialogs, logger: log, redact: (text) => secrets.redact(text) });
  const settings = new EditorSettings({ logger: log });
  const inbox = new QuestionInbox({ logger: log });
  const consent = new CommandConsent({ memory: context.globalState, logger: log });
  const version = versionOf(context);
  const problems = new ProblemNotices({ dialogs, log });
  const onProblem = (problem: StoreProblem): void => problems.take(problem);
  const sweeps = new SweepNotices({ dialogs, memory: context.globalState, log });
  const boards = new WindowBoards({
    folders: trustedFolders,
    compose: async ({ root, commonDir }) => {
      const { composeCore } = await import('./composeCore');
      return composeCore({
        directory: root,
        settings: () => settings.now,
        env: process.env,
        credentials: () => secrets.credentials(),
        permission: consent.portFor(commonDir, inbox),
        appVersion: version,
        logger: log,
        onProblem,
        onSwept: (items) => void sweeps.take(items),
      });
    },
    onProblem,
    logger: log,
  });
  const activities = new Activities({ boards, logger: log });
  const files = new ChangedFiles({ boards, logger: log });
  const seen = new SeenView({ logger: log });
  const overlaps = new OverlapMarks({ boards, seen, logger: log });
  const unresolved = new UnresolvedFiles({ boards, logger: log });
  const known = { activities, files, inbox, overlaps, unresolved };
  const tree = new TaskTree({ boards, ...known, logger: log });
  const view = vscode.window.createTreeView('tributary.tasks', { treeDataProvider: tree });
  seen.look(view);
  const hasModel = async (): Promise<boolean> =>
    settings.now.model.provider === 'demo' || (await secrets.credentials()) !== undefined;
  const surroundings = new Surroundings({ boards, inbox, view, hasModel, logger: log });
  const findings = new FindingDiagnostics({ boards, files, logger: log });
  const own = new OwnRuns(context.workspaceState);
  const resume = (): 'automatic' | 'ask' | 'never' => settings.now.resume;
  const resumer = new Resumer({ boards, own, setting: resume, announcer, dialogs, logger: log });
  const notices = new InboxNotices({ inbox, boards, dialogs, tree, view });
  const alarms = new AlarmNotices({ boards, dialogs, memory: context.workspaceState });
  const fileSystem = new TaskFileSystem({ boards, logger: log });
  const setupOutput = new SetupOutput(boards);
  const { extensionUri } = context;
  const memory = context.workspaceState;
  const transcripts = new TranscriptPanels({ extensionUri, boards, inbox, announcer, memory, logger: log });
  const reviews = new Reviews({ boards, files, dialogs });
  const reviewState = new ReviewState({ boards, memory, logger: log });
  const reviewTree = new ReviewTree(reviewState);
  const review = new ReviewView({ boards, state: reviewState, tree: reviewTree, tasks: view, announcer });
  const taskFileKey = new TaskFileKey(boards);
  const renew = (): void => {
    boards.retry();
    void surroundings.refreshModel();
  };
  const commands = registerCommands({
    boards,
    files,
    tree,
    view,
    inbox,
    consent,
    secrets,
    dialogs,
    announcer,
    log,
    transcripts,
    reviews,
    reviewState,
    reviewTree,
    review,
    unresolved,
    memory,
    provider: () => settings.now.model.provider,
    suggestion: async (root) => {
      if (settings.now.model.provider !== 'demo') return undefined;
      const { suggestedTask } = await import('./composeSample');
      return suggestedTask(root);
    },
    makeSample: async () => {
      const { makeSample } = await import('./composeSample');
      return makeSample(join(context.globalStorageUri.fsPath, 'samples'), process.env);
    },
  });
  const subscriptions = vscode.Disposable.from(
    vscode.workspace.registerFileSystemProvider(baseScheme, fileSystem, { isReadonly: true }),
    vscode.workspace.registerFileSystemProvider(snapshotScheme, fileSystem, { isReadonly: true }),
    vscode.workspace.registerTextDocumentContentProvider(setupScheme, setupOutput),
    vscode.window.registerFileDecorationProvider(new RowMarks()),
    vscode.languages.registerCodeActionsProvider({ scheme: 'file' }, new FindingActions(findings), {
      providedCodeActionKinds: FindingActions.kinds,
    }),
    vscode.workspace.onDidChangeWorkspaceFolders(() => void boards.refresh()),
    onRepositoryMade(() => void boards.refresh()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void boards.refresh()),
    settings.onDidChange(renew),
    secrets.onDidChange(renew),
  );
  void boards.refresh();
  void hasModel().then((has) => (has ? undefined : sayForgottenKey(secrets, dialogs)));
  return {
    parts: { boards, tree, view, reviewTree, reviewState, inbox, consent, secrets, findings, dialogs },
    async dispose() {
      // First nothing new may begin; then what runs is interrupted and written down; then the surfaces go.
      subscriptions.dispose();
      commands.dispose();
      resumer.dispose();
      await boards.dispose();
      for (const part of [
        taskFileKey,
        review,
        reviewTree,
        reviewState,
        reviews,
        transcripts,
        notices,
        alarms,
        findings,
        surroundings,
        view,
        tree,
        overlaps,
        seen,
        unresolved,
        files,
        activities,
        fileSystem,
        setupOutput,
        problems,
      ])
        part.dispose();
      secrets.dispose();
      settings.dispose();
      log.dispose();
    },
  };
}

/** A folder that was none becomes a repository, or ceases to be one. */
function onRepositoryMade(listener: () => void): vscode.Disposable {
  const watcher = vscode.workspace.createFileSystemWatcher('**/.git', false, true, false);
  return vscode.Disposable.from(watcher, watcher.onDidCreate(listener), watcher.onDidDelete(listener));
}

/** Nothing of a workspace that is not trusted is looked at. */
function trustedFolders(): readonly string[] {
  if (!vscode.workspace.isTrusted) return [];
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.filter(({ uri }) => uri.scheme === 'file').map(({ uri }) => uri.fsPath);
}

function versionOf(context: vscode.ExtensionContext): string {
  const manifest: unknown = context.extension.packageJSON;
  const version =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : undefined;
  return typeof version === 'string' ? version : '0.0.0';
}
