// A worktree and one model request. Arguments: the folder of the worktree, its branch.
import { ask, bareClient, git } from './bare';

const [path = '', branch = ''] = process.argv.slice(2);
await git(process.cwd(), 'worktree', 'add', '--quiet', '-b', branch, path, 'HEAD');
await ask(bareClient(), [{ role: 'user', content: 'Say good day' }]);
