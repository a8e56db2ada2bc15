/** A command with its white space made plain: how claimed and observed commands are compared. */
export function sameText(command: string): string {
  return command.trim().replace(/\s+/g, ' ');
}

/**
 * Commands that check nothing: they do nothing, arrange, or only show what is there. Reading is no check of
 * behaviour; searching is one, since its outcome says whether something is so: grep, rg, `git grep`.
 */
const idle = new Set(
  `true false : echo printf pwd cd exit return sleep date set unset export for case esac fi done
  ls cat head tail wc less more tree stat file which type find`.split(/\s+/),
);
/** Of git, these only show; with such an option, a difference is told by the exit code. */
const idleGit = /^git (?:--no-pager )?(?:status|log|diff|show|branch|rev-parse|ls-files|blame)(?= |$)/;
const tellingGit = / --(?:exit-code|quiet|check)(?= |$)/;
/** Filters that only shorten what another command prints. */
const filters = new Set(['tail', 'head', 'cat', 'tee', 'less', 'more', 'wc', 'sort', 'uniq', 'grep']);

/** How projects commonly run their whole suite; with a path or a name behind it, it is aimed and no longer bare. */
const bareSuite = new RegExp(
  `^(?:${[
    'script tests?',
    '(?:npx |yarn |pnpm (?:exec )?)?(?:jest|vitest(?: run)?|mocha|ava|tap|jasmine|playwright test|cypress run)',
    '(?:python[\\d.]* -m )?(?:pytest|unittest(?: discover)?|tox|nox)',
    'cargo (?:test|nextest run)',
    'go test(?: \\./\\.\\.\\.)?',
    '(?:make|ninja|just|task|rake|bundle exec rake|composer|sbt|mix|swift|deno|dotnet) (?:test|check)',
    '(?:mvn|\\./mvnw|gradle|\\./gradlew) (?:test|check|verify)',
    'ctest|(?:bundle exec )?rspec|(?:\\./)?(?:vendor/bin/)?phpunit|zig build test',
  ].join('|')})$`,
);

function isBareSuite(part: string): boolean {
  if (/^node (?:--[\w-]+ )*--test(?: --[\w-]+)*$/.test(part)) return true;
  // Flags alone (`-q`, `--all`) aim at nothing; those with a value leave the value behind.
  return bareSuite.test(part.replace(/ (?!-m\b)--?[\w-]+(?= |$)/g, ''));
}

/**
 * Whether a command is a check of the verifier's own: some part of it that can fail is neither an
 * acceptance test nor the bare project suite, as told or as usual. Wrapping the suite (`cd x && npm test 2>&1 | tail`) or
 * naming it otherwise (`npm run test`, `yarn test`) does not make it one's own.
 */
export function isOwnCheck(command: string, suiteCommands: readonly string[]): boolean {
  const suite = new Set(suiteCommands.flatMap((text) => [sameText(text), ...partsOf(text).map(plainPaths)]));
  if (suite.has(sameText(command))) return false;
  return partsOf(command).some((part) => !suite.has(plainPaths(part)) && !isBareSuite(part));
}

/** `node ./check.mjs`, `node "check.mjs"` and `sh ./check.sh` are `node check.mjs` and `./check.sh`. */
function plainPaths(part: string): string {
  return part
    .replace(/(["'])([\w./:@=-]+)\1/g, '$2')
    .replace(/^(?:ba|z|da)?sh (?=\S+\.sh(?: |$))/, '')
    .replace(/(^| )(?:\.\/+|\$PWD\/|\$\(pwd\)\/)+(?=\S)/g, '$1');
}

/** The simple commands of a line that do something, in a form that tells no spellings apart. */
function partsOf(command: string): string[] {
  const text = withoutComments(withoutHereDocuments(command));
  return splitOutsideQuotes(text, /^(?:&&|\|\||;|\n|&(?![>&]))/).flatMap((pipeline) => {
    const stages = splitOutsideQuotes(pipeline, /^\|&?/).map(canonical);
    const isReading = isReader(stages[0] ?? '');
    return stages.flatMap((part, index) => {
      const isFilter = index > 0 && filters.has(nameOf(part)) && !(isReading && nameOf(part) === 'grep');
      if (part === '' || isFilter || isIdle(part)) return [];
      const inner = innerCommand(part);
      return inner === undefined ? [part] : partsOf(inner);
    });
  });
}

/** What `eval …` and `sh -c "…"` run. */
function innerCommand(part: string): string | undefined {
  const shell = /^(?:\S*\/)?(?:ba|z|da)?sh (?:-\S+ )*-\w*c (["'])([\s\S]*)\1$/.exec(part)?.[2];
  return shell ?? /^eval (["']?)([\s\S]*)\1$/.exec(part)?.[2];
}

/** The body is input, and no command unless a shell reads it. */
function withoutHereDocuments(command: string): string {
  return command.replace(
    /^([^\n]*?)<<-?\s*(["']?)(\w+)\2([^\n]*)\n([\s\S]*?)(?:^|\n)\s*\3(?=\n|$)/gm,
    (_all, before: string, _quote: string, _word: string, after: string, body: string) =>
      /(?:^|[\s;|&])(?:ba|z|da)?sh(?: -\w*)*\s*$/.test(before) ? body : `${before}${after}`,
  );
}

function withoutComments(command: string): string {
  return command.replace(
    /("(?:\\[\s\S]|[^"\\])*"|'[^']*'|\\[\s\S])|(^|[\s;&|(])#[^\n]*/g,
    (_all, kept: string | undefined, before: string | undefined) => kept ?? before ?? '',
  );
}

function nameOf(part: string): string {
  return part.split(' ', 1)[0] ?? '';
}

function isReader(part: string): boolean {
  return /^(?:ls|cat|head|tail|find) /.test(part) || idleGit.test(part);
}

function isIdle(part: string): boolean {
  // What find runs is not known to be harmless.
  if (nameOf(part) === 'find') return !/ -(?:exec|ok)/.test(part);
  if (idleGit.test(part)) return !tellingGit.test(part);
  return idle.has(nameOf(part)) || /^\S+ (?:--version|-v|-V)$/.test(part);
}

function splitOutsideQuotes(text: string, separator: RegExp): string[] {
  const parts: string[] = [];
  let start = 0;
  let quote: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '\\' && quote !== "'") {
      at += 1;
    } else if (quote !== undefined) {
      if (char === quote) quote = undefined;
    } else if (char === '"' || char === "'" || char === '`') {
      quote = char;
    } else if (text[at - 1] !== '>') {
      // `>|` and `>&` redirect; they separate nothing.
      const length = separator.exec(text.slice(at, at + 2))?.[0].length ?? 0;
      if (length === 0) continue;
      parts.push(text.slice(start, at));
      start = at + length;
      at = start - 1;
    }
  }
  return [...parts, text.slice(start)];
}

const prefixes =
  /^(?:(?:env|time|nice|nohup|command|builtin|exec|stdbuf|setsid|sudo|xvfb-run)(?: -n \d+| -\S+)* |! |npx (?=npm|yarn|pnpm)|(?:if|then|elif|else|while|until|do)(?: |$))/;

/** One simple command without redirections, assignments, clocks, and with package managers made one. */
function canonical(part: string): string {
  let text = sameText(part);
  text = text.replace(/ ?\d*(?:>>?|<)(?:&\d+| ?[^\s&|<>]+)/g, '');
  for (;;) {
    const next = text
      .replace(/^[({] ?| ?[)}]$/g, '')
      .replace(prefixes, '')
      .replace(/^[A-Za-z_]\w*=(?:"[^"]*"|'[^']*'|\S*)(?: |$)/, '')
      .replace(/^timeout (?:-\S+ )*[\d.]+[smhd]? /, '');
    if (next === text) break;
    text = next;
  }
  return scriptOf(text.trim());
}

const runners = /^(?:\S*\/)?(npm|npx|pnpm|yarn|bun|make|ninja|just|cargo|composer|go)(?= )/;
/** Says in which folder; the suite it is all the same. */
const folderOption =
  / (?:--prefix|--cwd|--dir|--directory|--manifest-path|--working-dir|-C)(?:=| )(?:"[^"]*"|'[^']*'|\S+)/g;

function scriptOf(text: string): string {
  const here = runners.test(text) ? text.replace(runners, '$1').replace(folderOption, '') : text;
  const quiet = here.replace(/ (?:--silent|-s|--quiet|-q|--if-present|--color|--no-color|--)(?= |$)/g, '');
  const run = /^(?:npm|pnpm|yarn|bun)(?: (?:run|run-script|rum|urn))? (\S+)$/.exec(quiet)?.[1];
  if (run === undefined) return here;
  return `script ${run === 't' || run === 'tst' ? 'test' : run}`;
}
