import { join } from 'node:path';
import * as vscode from 'vscode';
import * as z from 'zod';
import type { Logger } from '../../base/logger';
import { type TaskId, taskIdSchema } from '../../model/ids';
import { baseOf } from '../../model/movedBase';
import type { Task } from '../../model/task';
import type { Boards } from '../boards';
import { visibleName } from '../plainWords';

/** The left side of a review: files of the Task's base commit. */
export const baseScheme = 'tributary-base';
/** The right side where no Worktree stands: files of the newest Snapshot. */
export const snapshotScheme = 'tributary-snapshot';

export type TaskScheme = typeof baseScheme | typeof snapshotScheme;

/**
 * The address of a file of a Task. It looks like the one in the Worktree, so that both sides of a comparison have
 * one name; the query says which file of which Task it is, and in which state.
 */
export function taskFileUri(scheme: TaskScheme, task: Task, path: string): vscode.Uri {
  const state = scheme === baseScheme ? baseOf(task) : (task.snapshot?.tree ?? '');
  const query: z.infer<typeof querySchema> = { taskId: task.id, path, state };
  const root = task.worktreePath ?? task.packet.repository.root;
  const shown = path.split('/').map(visibleName);
  return vscode.Uri.file(join(root, ...shown)).with({ scheme, query: JSON.stringify(query) });
}

/** Whether the editor would show the name as it is: nothing in it hides, reorders or breaks the line. */
export function isShownAsItIs(path: string): boolean {
  return visibleName(path) === path;
}

const querySchema = z.object({ taskId: taskIdSchema, path: z.string(), state: z.string() });

/** What an address of ours names; `undefined` for any other. */
export function taskFileOf(uri: vscode.Uri): { readonly taskId: TaskId; readonly path: string } | undefined {
  if (uri.scheme !== baseScheme && uri.scheme !== snapshotScheme) return undefined;
  try {
    const parsed = querySchema.safeParse(JSON.parse(uri.query));
    return parsed.success ? parsed.data : undefined;
  } catch {
    // Not one that was made here.
    return undefined;
  }
}

/**
 * Files of Tasks as they are in git, bytes and all, read-only. A file system, not a text provider: pictures and
 * other encodings are then compared as the editor compares any.
 */
export class TaskFileSystem implements vscode.FileSystemProvider {
  readonly onDidChangeFile: vscode.Event<vscode.FileChangeEvent[]>;
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  private readonly boards: Boards;
  private readonly logger: Logger;

  constructor(deps: { readonly boards: Boards; readonly logger: Logger }) {
    this.boards = deps.boards;
    this.logger = deps.logger;
    this.onDidChangeFile = this.changed.event;
  }

  /** What an address names never changes, so there is nothing to watch. */
  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { length } = await this.read(uri);
    return {
      type: vscode.FileType.File,
      ctime: 0,
      mtime: 0,
      size: length,
      permissions: vscode.FilePermission.Readonly,
    };
  }

  readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return this.read(uri);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  writeFile(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    this.changed.dispose();
  }

  private async read(uri: vscode.Uri): Promise<Uint8Array> {
    const named = taskFileOf(uri);
    const found = named === undefined ? undefined : this.boards.find(named.taskId);
    if (named === undefined || found === undefined) throw vscode.FileSystemError.FileNotFound(uri);
    const { tasks } = found.board.core;
    try {
      const bytes =
        uri.scheme === baseScheme
          ? await tasks.baseFile(found.task.id, named.path)
          : await tasks.taskFile(found.task.id, 'snapshot', named.path);
      if (bytes !== undefined) return bytes;
    } catch (error) {
      this.logger.warn('a file of a task could not be read', { uri: uri.toString(), error });
    }
    throw vscode.FileSystemError.FileNotFound(uri);
  }
}
