"""Runs attempts on a Kubernetes cluster, a Kubernetes Job for each. Nothing there calls this server."""
