import type { SimpleGit } from 'simple-git';
import { TributaryError, toTributaryError } from '../base/errors';
import { fixedConfig, gitEnvironment } from './gitEnvironment';
import { gitFailure } from './gitErrors';

/** Porcelain questions whose answers are names, never content. */
export interface GitClient {
  /** Full names of the refs under a prefix such as `refs/heads`. */
  refNames(prefix: string, signal?: AbortSignal): Promise<readonly string[]>;
  /** Whether a local branch (full ref name) has an upstream configured. */
  hasUpstream(branch: string, signal?: AbortSignal): Promise<boolean>;
}

/** `GitClient` through simple-git, loaded at the first question: it would cost every start of the program. */
export class SimpleGitClient implements GitClient {
  private readonly deps: {
    readonly root: string;
    readonly env: Readonly<Record<string, string | undefined>>;
  };

  constructor(deps: SimpleGitClient['deps']) {
    this.deps = deps;
  }

  async refNames(prefix: string, signal?: AbortSignal): Promise<readonly string[]> {
    const said = await this.raw(['for-each-ref', '--format=%(refname)', prefix], signal);
    return said.split('\n').filter((line) => line !== '');
  }

  async hasUpstream(branch: string, signal?: AbortSignal): Promise<boolean> {
    const said = await this.raw(['for-each-ref', '--format=%(refname) %(upstream)', branch], signal);
    return said.split('\n').some((line) => line.startsWith(`${branch} `) && line !== `${branch} `);
  }

  private async raw(args: string[], signal?: AbortSignal): Promise<string> {
    const git = await this.instance(signal);
    try {
      return await git.raw(args);
    } catch (error) {
      if (signal?.aborted) throw new TributaryError('cancelled', 'cancelled');
      const { GitError } = await import('simple-git');
      throw error instanceof GitError ? gitFailure(args, null, error.message) : toTributaryError(error);
    }
  }

  /** One instance per question: an abort kills everything an instance runs. */
  private async instance(signal: AbortSignal | undefined): Promise<SimpleGit> {
    const { simpleGit } = await import('simple-git');
    const env = gitEnvironment(this.deps.env);
    return simpleGit({
      baseDir: this.deps.root,
      config: [...fixedConfig],
      // Every guarded variable here was chosen by `gitEnvironment`.
      allowEnvironment: Object.keys(env),
      unsafe: {
        allowUnsafeHooksPath: true,
        allowUnsafeFsMonitor: true,
        allowUnsafePager: true,
        allowUnsafeEditor: true,
        allowUnsafeConfigPaths: true,
        allowUnsafeAskPass: true,
        allowUnsafeSshCommand: true,
      },
      ...(signal === undefined ? {} : { abort: signal }),
    }).env(env);
  }
}
