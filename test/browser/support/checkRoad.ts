import { startEditorApp } from './editorApp';
import type { EditorChoice } from './editorChoice';
import { MainRoad } from './mainRoad';

export interface CheckOptions {
  readonly editor: EditorChoice;
  readonly staged: string;
  readonly folder: string;
  readonly pictures: string;
  readonly env: NodeJS.ProcessEnv;
  readonly say: (text: string) => void;
}

/** Walks the main road in an editor of its own. Throws at the first thing that is not as it should be. */
export async function checkRoad({ editor, staged, folder, pictures, env, say }: CheckOptions): Promise<void> {
  const settings = { 'tributary.model.provider': 'demo' };
  const app = await startEditorApp(editor, { extension: { folder: staged }, settings, env });
  try {
    const road = new MainRoad(await app.open(folder), pictures);
    try {
      say('A Task is started from the view');
      await road.startTask();
      await road.watchTranscript();
      say('Its transcript streams; a command of the verifier asks, and is allowed for the repository');
      await road.allowCommands();
      await road.waitForRow(/FAIL, 1 finding ·/);
      say('The verdict is FAIL, and the finding stands under the code in the review');
      await road.fixByQuickFix(await road.seeFindingInReview());
      say('The finding was sent to an agent by its quick fix; the change is verified again');
      await road.waitForRow(/PASS.*ready/);
      say('PASS: accepted, undone, accepted again');
      await road.accept();
      await road.undo();
      await road.accept();
    } catch (error) {
      await road.lastPicture();
      throw error;
    }
  } finally {
    await app.end();
  }
}
