import { describe, expect, it } from 'vitest';

import { compareVersions, versionOrder } from '../src/core/versions';

describe('versionOrder', () => {
  it.each([
    ['0.1.0', '0.2.0'],
    ['0.9.0', '0.10.0'],
    ['1.0.0a1', '1.0.0b1'],
    ['1.0.0rc2', '1.0.0'],
    ['1.0.0-alpha.2', '1.0.0a10'],
    ['not a version', '0.0.1']
  ])('puts %s before %s', (older, newer) => {
    expect(versionOrder(older, newer)).toBeLessThan(0);
    expect(versionOrder(newer, older)).toBeGreaterThan(0);
  });

  it('knows that npm and Python write the same version differently', () => {
    expect(versionOrder('1.0.0-alpha.2', '1.0.0a2')).toBe(0);
    expect(versionOrder('1.0.0-rc.0', '1.0.0rc0')).toBe(0);
  });
});

describe('compareVersions', () => {
  it('has nothing to say about equal versions', () => {
    expect(compareVersions('0.1.0', '0.1.0')).toBeNull();
  });

  it('says to reload a page that is older than the server', () => {
    expect(compareVersions('0.2.0', '0.1.0')?.sentence).toMatch(
      /^The server has ACAI 0\.2\.0, this page has the older 0\.1\.0\. Reload the page/
    );
  });

  it('says to restart a server that is older than the page', () => {
    expect(compareVersions('0.1.0', '0.2.0')?.sentence).toMatch(
      /^This page has ACAI 0\.2\.0, the server has the older 0\.1\.0\. Restart the server/
    );
  });
});
