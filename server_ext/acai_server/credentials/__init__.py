"""Projects, users, tokens, permissions: who somebody is, and what that allows."""
