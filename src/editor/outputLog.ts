import * as vscode from 'vscode';
import type { Logger } from '../base/logger';
import { logText } from './logText';

/** The log channel of the editor as a Logger; `redact` sees every line before it is written. */
export class OutputLog implements Logger {
  private readonly channel: vscode.LogOutputChannel;
  private redact: (text: string) => string = (text) => text;

  constructor() {
    this.channel = vscode.window.createOutputChannel('Tributary', { log: true });
  }

  /** Who knows the secrets comes after the log. */
  redactWith(redact: (text: string) => string): void {
    this.redact = redact;
  }

  show(): void {
    this.channel.show(true);
  }

  debug(message: string, facts?: Readonly<Record<string, unknown>>): void {
    this.channel.debug(this.redact(logText(message, facts)));
  }

  info(message: string, facts?: Readonly<Record<string, unknown>>): void {
    this.channel.info(this.redact(logText(message, facts)));
  }

  warn(message: string, facts?: Readonly<Record<string, unknown>>): void {
    this.channel.warn(this.redact(logText(message, facts)));
  }

  error(message: string, facts?: Readonly<Record<string, unknown>>): void {
    this.channel.error(this.redact(logText(message, facts)));
  }

  dispose(): void {
    this.channel.dispose();
  }
}
