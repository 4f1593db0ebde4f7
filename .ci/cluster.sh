#!/bin/sh
# Runs a command with a Kubernetes cluster in its environment: that of KUBECONFIG, else one of kind or minikube, which is
# made for it and removed afterwards. Without any the command runs as well; the tests then say in their last lines what is missing.
# Usage: cluster.sh COMMAND…
set -eu
name=acai-test
say() { echo "cluster: $*" >&2; }
image=${KUBE_IMAGE:-python:3.11-slim}
if [ -n "${KUBECONFIG:-}" ]; then
  [ -n "${KUBE_HOST_ADDRESS:-}" ] || say "KUBE_HOST_ADDRESS must be an address of this machine that pods reach"
  export KUBE_IMAGE="$image"
elif command -v kind >/dev/null 2>&1 && command -v docker >/dev/null 2>&1; then
  folder=$(mktemp -d)
  export KUBECONFIG="$folder/kubeconfig" KUBE_IMAGE="$image"
  trap 'kind delete cluster --quiet --name "$name"; rm -rf "$folder"' EXIT
  kind create cluster --quiet --name "$name" --wait 120s
  KUBE_HOST_ADDRESS=$(docker network inspect kind --format '{{range .IPAM.Config}}{{.Gateway}} {{end}}' | tr ' ' '\n' | grep -m1 '\.')
  export KUBE_HOST_ADDRESS
elif command -v minikube >/dev/null 2>&1; then
  folder=$(mktemp -d)
  export KUBECONFIG="$folder/kubeconfig" KUBE_IMAGE="$image"
  trap 'minikube delete --profile "$name" >/dev/null; rm -rf "$folder"' EXIT
  minikube start --profile "$name" --wait all >/dev/null
  KUBE_HOST_ADDRESS=$(minikube ssh --profile "$name" "getent hosts host.minikube.internal" | cut -f1 | tr -d ' \r')
  export KUBE_HOST_ADDRESS
else
  say "there is none; set KUBECONFIG, KUBE_IMAGE and KUBE_HOST_ADDRESS, or install kind (https://kind.sigs.k8s.io) with Docker"
fi
"$@"
