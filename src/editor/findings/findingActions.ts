import * as vscode from 'vscode';
import { shown } from '../taskWords';
import { diagnosticSource, type FindingDiagnostics, type ShownFinding } from './findingDiagnostics';

/** What can be done about a Finding, offered where it is shown. */
export class FindingActions implements vscode.CodeActionProvider {
  static readonly kinds = [vscode.CodeActionKind.QuickFix];
  private readonly findings: FindingDiagnostics;

  constructor(findings: FindingDiagnostics) {
    this.findings = findings;
  }

  provideCodeActions(
    document: vscode.TextDocument,
    range: vscode.Range,
    context: vscode.CodeActionContext,
  ): vscode.CodeAction[] {
    const asked = context.diagnostics.filter(({ source }) => source === diagnosticSource);
    const there = this.findings
      .of(document.uri)
      .filter(
        ({ diagnostic }) =>
          diagnostic.range.intersection(range) !== undefined &&
          (asked.length === 0 || asked.some((one) => one.message === diagnostic.message)),
      );
    return there.flatMap((one) => actionsFor(one));
  }
}

function actionsFor({ diagnostic, task, finding }: ShownFinding): vscode.CodeAction[] {
  const title = shown(finding.title, 60);
  const argument = { taskId: task.id, findingId: finding.id };
  const action = (label: string, command: string, isPreferred: boolean): vscode.CodeAction => {
    const made = new vscode.CodeAction(label, vscode.CodeActionKind.QuickFix);
    made.command = { command, title: label, arguments: [argument] };
    made.diagnostics = [diagnostic];
    made.isPreferred = isPreferred;
    return made;
  };
  return [
    action(vscode.l10n.t('Fix with an agent: {0}', title), 'tributary.finding.fix', true),
    action(vscode.l10n.t('Show evidence: {0}', title), 'tributary.finding.showEvidence', false),
    action(vscode.l10n.t('Dismiss…: {0}', title), 'tributary.finding.dismiss', false),
  ];
}
