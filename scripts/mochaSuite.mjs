// Runs bundled test files in one process and writes the counts where the parent asked for them.
import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';

const { files, grep, timeoutMs, countsPath } = JSON.parse(process.argv[2]);
const mocha = new Mocha({
  reporter: 'spec',
  timeout: timeoutMs,
  forbidOnly: Boolean(process.env.CI),
  ...(grep ? { grep } : {}),
});
for (const file of files) mocha.addFile(file);
await mocha.loadFilesAsync();
const runner = mocha.run((failures) => {
  const { passes, pending } = runner.stats;
  writeFileSync(countsPath, JSON.stringify({ passed: passes, failed: failures, skipped: pending }));
  process.exitCode = failures > 0 ? 1 : 0;
  // A test that leaves a handle open must not hang the run; it is named instead.
  setTimeout(() => {
    console.error('left open after the last test:', process.getActiveResourcesInfo().join(', '));
    process.exit(process.exitCode);
  }, 5_000).unref();
});
