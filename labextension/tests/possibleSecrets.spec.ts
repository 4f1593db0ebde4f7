import { describe, expect, it } from 'vitest';

import { leftOut, withoutSecrets } from '../src/core/possibleSecrets';

const file = new Blob(['x']);

function secretsOf(...paths: readonly string[]): string[] {
  return withoutSecrets(paths.map(path => ({ path, file }))).secrets;
}

describe('possible secrets', () => {
  it('stay behind when their folder is uploaded', () => {
    const secrets = [
      'work/.env',
      'work/.env.local',
      'work/sub/server.pem',
      'work/.ssh/config',
      'work/.kube/config',
      'work/sub/.docker/config.json',
      'work/.npmrc'
    ];
    expect(secretsOf(...secrets)).toEqual(secrets);
  });

  it('are not their neighbours', () => {
    const others = [
      'work/env',
      'work/.env.example',
      'work/config',
      'work/kube/config',
      'work/.docker/Dockerfile',
      'work/monkey',
      'work/id_rsa.pub'
    ];
    expect(secretsOf(...others)).toEqual([]);
  });

  it('are sent when they are given by themselves', () => {
    expect(secretsOf('.env', 'server.key', '.ssh/known_hosts')).toEqual([]);
  });

  it('are parted from the files that are sent', () => {
    const given = ['work/a.txt', 'work/.env'].map(path => ({ path, file }));
    expect(withoutSecrets(given).files).toEqual([given[0]]);
  });
});

describe('what is said of them', () => {
  it('names three, and how to send one', () => {
    expect(leftOut(['w/.env', 'w/a.pem', 'w/b.pem', 'w/c.pem'])).toBe(
      'Not uploaded, as it may hold a secret: w/.env, w/a.pem, w/b.pem and 1 more. To send one, upload the file itself.'
    );
    expect(leftOut(['w/.env'])).toBe(
      'Not uploaded, as it may hold a secret: w/.env. To send one, upload the file itself.'
    );
  });

  it('fits a notification of JupyterLab when names are long', () => {
    const long = (name: string) => `${'folder/'.repeat(5)}${name}`;
    expect(leftOut([long('.env'), long('a.pem')])).toBe(
      `Not uploaded, as it may hold a secret: ${long('.env')} and 1 more. To send one, upload the file itself.`
    );
    const longest = leftOut([`${'folder/'.repeat(50)}.env`, 'a.pem']);
    expect(longest).toHaveLength(140);
    expect(longest).toMatch(
      /: ….*\/\.env and 1 more\. To send one, upload the file itself\.$/
    );
  });
});
