"""`acai`: the verbs in a shell."""
