import { existsSync } from 'node:fs';
import { isExecutable, onPath } from './commands.mjs';

const macBrowsers = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** A Chromium of this machine; `TRIBUTARY_CHROMIUM` names one. Throws when that one is not there. */
export function findChromium() {
  const named = process.env.TRIBUTARY_CHROMIUM;
  if (named) {
    if (!isExecutable(named)) throw new Error(`TRIBUTARY_CHROMIUM names ${named}, which is no program`);
    return named;
  }
  return (
    onPath('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable') ??
    macBrowsers.find((path) => existsSync(path))
  );
}

export const howToGetChromium =
  'a Chromium (Debian, Ubuntu: apt-get install chromium; or name one by TRIBUTARY_CHROMIUM)';
