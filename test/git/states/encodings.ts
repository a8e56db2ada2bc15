import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TempRepo } from '../support/tempRepo';
import { aByAgent, all, attributes, file, git, gone, type RepositoryState, set, shaped } from './state';

const crlf = (text: string): string => text.replaceAll('\n', '\r\n');

/** Puts every tracked file back as git would write it now. */
const writtenAnew = async (repo: TempRepo): Promise<void> => {
  await repo.git('rm', '--quiet', '-r', '--cached', '.');
  await repo.git('reset', '--quiet', '--hard');
};

const rot = {
  'filter.rot.clean': 'tr b-za a-z',
  'filter.rot.smudge': 'tr a-z b-za',
  'filter.rot.required': 'true',
};

/** Where git writes other bytes than it stores: line endings, encodings, keywords, filters. */
export const encodingStates: readonly RepositoryState[] = [
  {
    title: 'core.autocrlf=true',
    from: 'clean',
    shape: shaped(set({ 'core.autocrlf': 'true' }), writtenAnew),
    agent: all(
      file('a.txt', crlf(aByAgent)),
      file('new.txt', 'one\r\ntwo\r\n'),
      file('bare.txt', 'one\ntwo\n'),
    ),
    lands: { 'bare.txt': 'one\r\ntwo\r\n' },
    restoredByGit: ['bare.txt'],
  },
  {
    title: 'core.autocrlf=input',
    onlyLong: true,
    from: 'clean',
    shape: shaped(set({ 'core.autocrlf': 'input' })),
    agent: all(file('a.txt', aByAgent), file('crlf.txt', 'x\r\nz\r\n'), file('new.txt', 'one\r\ntwo\r\n')),
    lands: { 'new.txt': 'one\ntwo\n' },
    restoredByGit: ['new.txt'],
  },
  {
    title: 'core.eol=crlf and core.safecrlf=true',
    onlyLong: true,
    from: 'clean',
    shape: shaped(
      set({ 'core.eol': 'crlf', 'core.safecrlf': 'true' }),
      attributes('*.txt text\n'),
      git('add', '--renormalize', '.'),
      git('commit', '--quiet', '--message', 'normal'),
      writtenAnew,
    ),
    agent: all(file('a.txt', crlf(aByAgent)), file('mixed.md', 'one\r\ntwo\n')),
  },
  {
    title: 'attributes of line endings, binaries and keywords',
    from: 'clean',
    shape: shaped(
      attributes('a.txt text eol=crlf\nb.txt text eol=lf\n*.dat binary\nnoeol.txt ident\n'),
      writtenAnew,
    ),
    agent: all(
      file('a.txt', crlf(aByAgent)),
      file('b.txt', 'b one\n'),
      file('bin.dat', Buffer.from([13, 10, 0, 10])),
      file('noeol.txt', '$Id$ here'),
    ),
    lands: { 'noeol.txt': '$Id: 51ef47e185f1b9aa2498f205fdcb596ce852b309 $ here' },
    restoredByGit: ['noeol.txt'],
  },
  {
    title: 'attributes of another encoding in the working tree',
    from: 'clean',
    shape: shaped(
      file('wide.txt', Buffer.from('\ufeffone\ntwo\n', 'utf16le')),
      file('.gitattributes', 'wide.txt text working-tree-encoding=UTF-16LE-BOM eol=lf\n'),
      git('add', '--all'),
      git('commit', '--quiet', '--message', 'wide'),
    ),
    agent: file('wide.txt', Buffer.from('\ufeffone\ntwo ü\n', 'utf16le')),
  },
  {
    title: 'a filter that encodes what is stored',
    from: 'clean',
    shape: shaped(
      set(rot),
      attributes('*.enc filter=rot\n'),
      file('x.enc', 'abc\n'),
      git('add', 'x.enc'),
      git('commit', '--quiet', '--message', 'encoded'),
    ),
    agent: all(file('x.enc', 'abcd\n'), file('y.enc', 'new\n')),
  },
  {
    title: 'pointers of LFS without LFS configured',
    onlyLong: true,
    from: 'clean',
    shape: shaped(
      attributes('*.psd filter=lfs diff=lfs merge=lfs -text\n'),
      file('x.psd', 'version https://git-lfs\noid sha256:1\n'),
      git('add', 'x.psd'),
      git('commit', '--quiet', '--message', 'pointer'),
    ),
    agent: all(file('x.psd', 'version https://git-lfs\noid sha256:2\n'), file('a.txt', aByAgent)),
  },
  {
    title: 'pointers of LFS with LFS configured, as filters that keep content elsewhere',
    from: 'clean',
    shape: shaped(lfsLike),
    agent: all(
      file('x.psd', Buffer.from([1, 2, 3, 0])),
      file('y.psd', Buffer.from([13, 10])),
      gone('dir/c.txt'),
    ),
  },
  {
    title: 'the agent adds attributes that change how its files are written',
    onlyLong: true,
    from: 'clean',
    agent: all(file('.gitattributes', 'a.txt text eol=crlf\n'), file('a.txt', crlf(aByAgent))),
  },
  {
    title: 'the agent adds attributes for files it does not touch',
    onlyLong: true,
    from: 'clean',
    shape: shaped(set(rot)),
    agent: all(file('.gitattributes', 'new.enc filter=rot\nb.txt -text\n'), file('new.enc', 'abc\n')),
  },
];

/** Filters that store a pointer in git and the content beside it, as LFS does. */
async function lfsLike(repo: TempRepo): Promise<void> {
  // Among the objects, which grow with every look.
  const store = join(repo.root, '.git', 'objects', 'large');
  await mkdir(store);
  const clean = `f=$(mktemp '${store}/XXXXXX'); cat >"$f"; o=$(sha256sum <"$f" | cut -c1-64); mv "$f" '${store}/'$o; echo "oid $o"`;
  const smudge = `read k o; cat '${store}/'$o`;
  await writeFile(join(repo.folder, 'clean.sh'), clean);
  await writeFile(join(repo.folder, 'smudge.sh'), smudge);
  await set({
    'filter.lfs.clean': `sh '${join(repo.folder, 'clean.sh')}'`,
    'filter.lfs.smudge': `sh '${join(repo.folder, 'smudge.sh')}'`,
    'filter.lfs.required': 'true',
  })(repo);
  await repo.write('.gitattributes', '*.psd filter=lfs -text\n');
  await repo.write('x.psd', Buffer.from([0, 1, 2]));
  await repo.commitAll('large');
}
