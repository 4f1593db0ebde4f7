import manifest from '../../package.json';

/** The version of the code in this page; the server tells its own. */
export const PAGE_VERSION = manifest.version;
