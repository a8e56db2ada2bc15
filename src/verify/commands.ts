/** A command with its white space made plain: how claimed and observed commands are compared. */
export function sameText(command: string): string {
  return command.trim().replace(/\s+/g, ' ');
}

/** Commands that check nothing, and filters that only shorten what another command prints. */
const idle = new Set(['true', ':', 'echo', 'printf', 'pwd', 'cd', 'exit', 'sleep', 'date', 'set', 'export']);
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
  const suite = new Set(suiteCommands.flatMap((text) => [sameText(text), ...partsOf(text)]));
  if (suite.has(sameText(command))) return false;
  return partsOf(command).some((part) => !suite.has(part) && !isBareSuite(part));
}

/** The simple commands of a line that do something, in a form that tells no spellings apart. */
function partsOf(command: string): string[] {
  const inner = /^\s*(?:\S*\/)?(?:ba|z|da)?sh\s+-\w*c\s+(["'])([\s\S]*)\1\s*$/.exec(command)?.[2];
  if (inner !== undefined) return partsOf(inner);
  return splitOutsideQuotes(command, /^(?:&&|\|\||;|\n|&(?![>&]))/).flatMap((pipeline) =>
    splitOutsideQuotes(pipeline, /^\|&?/)
      .map(canonical)
      .filter((part, index) => part !== '' && !isIdle(part, index)),
  );
}

function isIdle(part: string, index: number): boolean {
  const name = part.split(' ', 1)[0] ?? '';
  return idle.has(name) || (index > 0 && filters.has(name)) || /^\S+ (?:--version|-v|-V)$/.test(part);
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

/** One simple command without redirections, assignments, clocks, and with package managers made one. */
function canonical(part: string): string {
  let text = sameText(part).replace(/^[({] ?| ?[)}]$/g, '');
  text = text.replace(/ ?\d*(?:>>?|<)(?:&\d+| ?[^\s&|<>]+)/g, '');
  for (;;) {
    const next = text
      .replace(/^(?:env |time |nice |command |exec |! |npx (?=npm|yarn|pnpm))/, '')
      .replace(/^[A-Za-z_]\w*=(?:"[^"]*"|'[^']*'|\S*)(?: |$)/, '')
      .replace(/^timeout (?:-\S+ )*\d+[smh]? /, '');
    if (next === text) break;
    text = next;
  }
  return scriptOf(text.trim());
}

function scriptOf(text: string): string {
  const quiet = text.replace(/ (?:--silent|-s|--quiet|-q|--if-present|--color|--no-color|--)(?= |$)/g, '');
  const run = /^(?:npm|pnpm|yarn|bun)(?: (?:run|run-script|rum|urn))? (\S+)$/.exec(quiet)?.[1];
  if (run === undefined) return text;
  return `script ${run === 't' || run === 'tst' ? 'test' : run}`;
}
