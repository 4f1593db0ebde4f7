"""`%acai` and `%%acai run`: the verbs in a notebook."""
