// Generated from the list of possible secrets of `put` by `make contract`; do not edit.

export interface ISecretName {
  /** What a name matches, or a path where `byName` is false. */
  pattern: string;
  byName: boolean;
  foldersOnly: boolean;
  /** Whether it is no secret after all, such as .env.example. */
  isHarmless: boolean;
}

/** The last one that matches decides. */
export const SECRET_NAMES: readonly ISecretName[] = [
  {
    "pattern": "^(?:\\.env)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:\\.env\\.[^/]*)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:\\.env\\.example)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": true
  },
  {
    "pattern": "^(?:\\.env\\.sample)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": true
  },
  {
    "pattern": "^(?:\\.env\\.template)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": true
  },
  {
    "pattern": "^(?:\\.envrc)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:\\.Renviron)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:\\.netrc)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:_netrc)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:\\.npmrc)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:\\.pypirc)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:\\.pgpass)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:\\.my\\.cnf)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:\\.s3cfg)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:\\.boto)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:\\.databrickscfg)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:\\.dockercfg)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:\\.git\\-credentials)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:\\.vault\\-token)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:\\.htpasswd)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:kaggle\\.json)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:kubeconfig)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:[^/]*\\.kubeconfig)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:id_rsa)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:id_dsa)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:id_ecdsa)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:id_ed25519)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:id_ecdsa_sk)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:id_ed25519_sk)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:[^/]*\\.pem)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:[^/]*\\.key)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:[^/]*\\.p12)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:[^/]*\\.pfx)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:[^/]*\\.ppk)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:[^/]*\\.jks)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:[^/]*\\.keystore)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:[^/]*\\.kdbx)$",
    "byName": true,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:(?:.*/)?\\.kube/config)$",
    "byName": false,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:(?:.*/)?\\.docker/config\\.json)$",
    "byName": false,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:(?:.*/)?\\.config/gcloud)$",
    "byName": false,
    "foldersOnly": true,
    "isHarmless": false
  },
  {
    "pattern": "^(?:(?:.*/)?\\.streamlit/secrets\\.toml)$",
    "byName": false,
    "foldersOnly": false,
    "isHarmless": false
  },
  {
    "pattern": "^(?:\\.aws)$",
    "byName": true,
    "foldersOnly": true,
    "isHarmless": false
  },
  {
    "pattern": "^(?:\\.azure)$",
    "byName": true,
    "foldersOnly": true,
    "isHarmless": false
  },
  {
    "pattern": "^(?:\\.gnupg)$",
    "byName": true,
    "foldersOnly": true,
    "isHarmless": false
  },
  {
    "pattern": "^(?:\\.ssh)$",
    "byName": true,
    "foldersOnly": true,
    "isHarmless": false
  }
];
