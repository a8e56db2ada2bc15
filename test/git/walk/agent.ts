import { generator } from '../support/random';

/** Files that every walk begins with. */
export const firstFiles = {
  '.gitignore': '*.log\nbuild/\n',
  'a.txt': Array.from({ length: 14 }, (_, index) => `line ${index + 1}\n`).join(''),
  'b.txt': 'b one\nb two\nb three\n',
  'dir/c.txt': 'c one\nc two\nc three\nc four\n',
  'dir/deep/d.txt': 'd\n',
  'bin.dat': Buffer.from([0, 1, 2, 255]),
};

/** A shell script with a few things that agents do to files and with git; nothing it makes was there before. */
export function agentScript(seed: number, name: string): string {
  const random = generator(seed);
  const line = 1 + random(14);
  const inner = `echo ${name} > inner.txt && git add -A && git commit -qm in`;
  // None of them destroys what is ignored: nobody but the one who made it could bring that back.
  const acts: readonly string[] = [
    `test ! -f a.txt || sed -i '${line}s/.*/agent ${name} on line ${line}/' a.txt`,
    `test ! -f b.txt || printf 'b by ${name}\\n' >> b.txt`,
    `mkdir -p new && printf 'made by ${name}\\nsecond\\n' > new/${name}.txt`,
    `git check-ignore -q shared.txt || printf 'shared by ${name}' > shared.txt`,
    'rm -f b.txt',
    `test ! -f dir/c.txt || { mkdir -p moved && mv dir/c.txt moved/${name}.txt; }`,
    `printf 'log of ${name}\\n' > ${name}.log; mkdir -p build; printf '\\000${name}' > build/${name}.o`,
    `git add -A && git commit -qm 'own ${name}'`,
    `git checkout -q -b agent-${name}`,
    `(git init -q nest-${name} && cd nest-${name} && ${inner})`,
    `printf '\\000\\002${name}' > bin.dat`,
    'test ! -f a.txt || chmod +x a.txt',
    `ln -sf a.txt link-${name}`,
    'grep -q shared .gitignore || git reset -q --hard',
    `ls dir/*.log >/dev/null 2>&1 || { rm -rf dir && printf 'a file now, ${name}' > dir; }`,
    `mkdir -p dir && printf 'ignored by ${name}' > dir/${name}.log`,
    `git add -A; test ! -f shared.txt || { git rm -q --cached shared.txt && printf 'shared.txt\\n' >> .gitignore && printf 'own ${name}' > shared.txt; }`,
    `(git add -A; git rm -q -f shared.txt && git init -q shared.txt && cd shared.txt && ${inner})`,
    `git add -A && printf 'after add ${name}' > late-${name}.txt`,
  ];
  const identity =
    'export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@y.invalid GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@y.invalid';
  const chosen = Array.from({ length: 1 + random(4) }, () => acts[random(acts.length)] ?? 'true');
  return ['#!/bin/sh', identity, ...chosen, 'true', ''].join('\n');
}
