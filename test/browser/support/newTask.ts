import type { EditorWindow } from './editorWindow';

/** Starts a Task by the keyboard alone; its row is there before this resolves. */
export async function startByKeys(window: EditorWindow, objective: string): Promise<void> {
  await window.runCommand('Tributary: New Task');
  await window.waitForQuestion('New Task: objective');
  await window.answer(objective);
  await window.waitForQuestion('New Task: agent');
  await window.page.keyboard.press('Enter');
  await window.waitForQuestion('New Task: base');
  await window.page.keyboard.press('Enter');
  await window.waitForQuestion('New Task: checks');
  await window.answer('');
  await window.row(objective).first().waitFor();
}
