export { version as appVersion } from '../../package.json';
