import type { Logger } from './base/logger';
import type { RepositoryFacts } from './git/repository';
import type { Settings } from './model/settings';
import type { PermissionPort } from './tasks/permission';
import type { TaskService } from './tasks/taskService';

/** What comes in from outside: the editor and the command line each bring their own. */
export interface CorePorts {
  /** Any folder of the repository. */
  readonly directory: string;
  readonly settings: Settings;
  /** Read for git's and the model's variables; never handed to agents whole. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The key or token, asked for when the first request goes out; `undefined`: there is none. */
  readonly credentials: () => Promise<Credentials | undefined>;
  readonly permission: PermissionPort;
  readonly appVersion: string;
  readonly logger?: Logger;
}

export type Credentials =
  | { readonly kind: 'apiKey'; readonly value: string }
  | { readonly kind: 'authToken'; readonly value: string };

/** Everything but the editor. `dispose` interrupts what runs and gives everything back. */
export interface Core {
  readonly repository: RepositoryFacts;
  readonly tasks: TaskService;
  dispose(): Promise<void>;
}

/** Throws `gitMissing`, `gitTooOld`, `notARepository`. */
export type ComposeCore = (ports: CorePorts) => Promise<Core>;
