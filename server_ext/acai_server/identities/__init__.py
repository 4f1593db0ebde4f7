"""Who says from outside who somebody is: an issuer of OpenID Connect, the hub of JupyterHub."""
