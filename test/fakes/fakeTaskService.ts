import { Emitter } from '../../src/base/emitter';
import { TributaryError } from '../../src/base/errors';
import type { Core, CorePorts } from '../../src/composeCore';
import type { TaskId } from '../../src/model/ids';
import type { AppendedEntry, StreamedEvent, TaskChange } from '../../src/tasks/taskApi';
import type { TaskService } from '../../src/tasks/taskService';

/** Answers of the front door, by method; one that is not given fails as `internal`. */
export type Script = Partial<
  Omit<
    TaskService,
    'onDidChangeTask' | 'onDidAppendEntry' | 'onDidStream' | 'housekeeping' | 'isBusy' | 'dispose'
  >
>;

/** A front door that answers what it is told to, and fires what the test fires. */
export class FakeTaskService {
  readonly changes = new Emitter<TaskChange>();
  readonly entries = new Emitter<AppendedEntry>();
  readonly streams = new Emitter<StreamedEvent>();
  /** `[method, ...arguments]`, in order. */
  readonly calls: unknown[][] = [];
  /** What the command line brought with it. */
  ports: CorePorts | undefined;
  isDisposed = false;
  onDispose: () => void = () => undefined;
  /** Tells whoever follows the board that a record is gone. */
  gone: (id: TaskId) => void = () => undefined;
  readonly service: TaskService;

  constructor(script: Script = {}) {
    const unscripted = (method: string) => (): never => {
      throw new TributaryError('internal', `${method} is not scripted`);
    };
    const method = <K extends keyof Script>(name: K): NonNullable<Script[K]> =>
      script[name] ?? (unscripted(name) as NonNullable<Script[K]>);
    const logged =
      <A extends unknown[], R>(name: string, call: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        this.calls.push([name, ...args]);
        return call(...args);
      };
    this.service = {
      onDidChangeTask: this.changes.event,
      onDidAppendEntry: this.entries.event,
      onDidStream: this.streams.event,
      housekeeping: {
        worktrees: unscripted('worktrees'),
        examine: unscripted('examine'),
        sweep: unscripted('sweep'),
        noteOpened: unscripted('noteOpened'),
      },
      isBusy: () => false,
      bases: logged('bases', method('bases')),
      foreignSetups: logged('foreignSetups', method('foreignSetups')),
      prepare: logged('prepare', method('prepare')),
      start: logged('start', method('start')),
      followUp: logged('followUp', method('followUp')),
      verify: logged('verify', method('verify')),
      fix: logged('fix', method('fix')),
      resume: logged('resume', method('resume')),
      stop: logged('stop', method('stop')),
      list: logged('list', method('list')),
      find: logged('find', method('find')),
      transcript: logged('transcript', method('transcript')),
      transcriptPart: logged('transcriptPart', method('transcriptPart')),
      changes: logged('changes', method('changes')),
      patch: logged('patch', method('patch')),
      hunks: logged('hunks', method('hunks')),
      mark: logged('mark', method('mark')),
      preview: logged('preview', method('preview')),
      accept: logged('accept', method('accept')),
      mergeIn: logged('mergeIn', method('mergeIn')),
      resolve: logged('resolve', method('resolve')),
      overlaps: script.overlaps ?? (async () => ({ overlaps: [], order: [] })),
      landedPaths: logged('landedPaths', method('landedPaths')),
      previewUndo: logged('previewUndo', method('previewUndo')),
      undo: logged('undo', method('undo')),
      discard: logged('discard', method('discard')),
      restore: logged('restore', method('restore')),
      snapshots: logged('snapshots', script.snapshots ?? (() => Promise.resolve([]))),
      restoreTo: logged('restoreTo', method('restoreTo')),
      dismiss: logged('dismiss', method('dismiss')),
      dismissAlarms: logged('dismissAlarms', method('dismissAlarms')),
      baseFile: logged('baseFile', method('baseFile')),
      taskFile: logged('taskFile', method('taskFile')),
      follow: (onGone) => {
        this.gone = onGone ?? this.gone;
        return { dispose: () => undefined };
      },
      dispose: () => Promise.resolve(),
    };
  }

  get listenerCount(): number {
    return this.changes.listenerCount + this.entries.listenerCount + this.streams.listenerCount;
  }

  /** The core around it, as `composeCore` would answer. */
  readonly compose = (ports: CorePorts): Promise<Core> => {
    this.ports = ports;
    return Promise.resolve({
      repository: {
        root: '/repo',
        commonDir: '/repo/.git',
        gitDir: '/repo/.git',
        mainRoot: '/repo',
        objectFormat: 'sha1',
        gitVersion: '2.40.0',
      },
      tasks: this.service,
      dispose: () => {
        this.isDisposed = true;
        this.onDispose();
        return Promise.resolve();
      },
    });
  };
}
