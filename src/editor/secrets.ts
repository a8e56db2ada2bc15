import type { Disposable } from '../base/disposable';
import { Emitter, type Event } from '../base/emitter';
import type { Logger } from '../base/logger';
import type { Credentials } from '../composeCore';
import type { Memory } from './consent';

/** The part of the editor's SecretStorage that is used. */
export interface SecretBox {
  get(key: string): PromiseLike<string | undefined>;
  store(key: string, value: string): PromiseLike<void>;
  delete(key: string): PromiseLike<void>;
  onDidChange(listener: (event: { readonly key: string }) => void): Disposable;
}

const keyName = 'tributary.apiKey';
const wasStored = 'tributary.keyWasStored';

export interface SecretsDeps {
  readonly box: SecretBox;
  /** What the environment has; the fall-back. */
  readonly fromEnvironment: () => Credentials | undefined;
  /** Remembers, beside the box, that a key was stored. */
  readonly memory: Memory;
  readonly logger: Logger;
}

/** The model's key: what the user stored in this editor, else the environment's. */
export class Secrets implements Disposable {
  readonly onDidChange: Event<void>;
  private readonly deps: SecretsDeps;
  private readonly changed: Emitter<void>;
  private readonly subscription: Disposable;
  private readonly seen = new Set<string>();

  constructor(deps: SecretsDeps) {
    this.deps = deps;
    this.changed = new Emitter(deps.logger);
    this.onDidChange = this.changed.event;
    this.subscription = deps.box.onDidChange(({ key }) => {
      if (key === keyName) this.changed.fire();
    });
  }

  async credentials(): Promise<Credentials | undefined> {
    const stored = await this.deps.box.get(keyName);
    const credentials: Credentials | undefined =
      stored === undefined || stored.trim() === ''
        ? this.deps.fromEnvironment()
        : { kind: 'apiKey', value: stored.trim() };
    if (credentials !== undefined) this.seen.add(credentials.value);
    return credentials;
  }

  async setKey(value: string): Promise<void> {
    this.seen.add(value.trim());
    await this.deps.box.store(keyName, value.trim());
    await this.deps.memory.update(wasStored, true);
  }

  async clearKey(): Promise<void> {
    await this.deps.box.delete(keyName);
    await this.deps.memory.update(wasStored, undefined);
  }

  /** Whether a key was stored here that the editor has no more: without a keychain it keeps secrets in memory only. */
  async isForgotten(): Promise<boolean> {
    return this.deps.memory.get(wasStored) === true && (await this.deps.box.get(keyName)) === undefined;
  }

  /** `text` with every key that was handed out here blotted out: for logs and messages. */
  redact(text: string): string {
    let clean = text;
    for (const secret of this.seen) if (secret !== '') clean = clean.replaceAll(secret, '[key]');
    return clean.replace(/\bsk-ant-[\w-]{8,}/g, '[key]');
  }

  dispose(): void {
    this.subscription.dispose();
    this.changed.dispose();
  }
}
