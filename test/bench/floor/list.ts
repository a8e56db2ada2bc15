// The least a listing could do: the SDK in memory, the two questions about the repository, one line of JSON.
import { bareClient, git } from './bare';

const client = bareClient();
const cwd = process.cwd();
const [version, places] = await Promise.all([
  git(cwd, 'version'),
  git(
    cwd,
    'rev-parse',
    '--path-format=absolute',
    '--git-common-dir',
    '--absolute-git-dir',
    '--show-toplevel',
  ),
]);
process.stdout.write(`${JSON.stringify({ version, places, tasks: [], hasClient: client !== undefined })}\n`);
