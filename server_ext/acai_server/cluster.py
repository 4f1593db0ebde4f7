"""What of the composition is for a cluster: its settings, its runner, and how it is looked at."""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING, Any

from traitlets import Bool, Float, Int, Unicode
from traitlets.config import Configurable

from acai_jupyter.contract.errors import SettingsBroken

if TYPE_CHECKING:
    from pathlib import Path

    from acai_jupyter.contract.checkups import Check
    from acai_server.runners.protocol import Runner
    from acai_server.settings import Settings


class ClusterSettings(Configurable):
    """Settings of a `kubernetes` runner, set as those of `AcaiApp`."""

    kubeconfig = Unicode(
        "",
        help="File that says how a 'kubernetes' runner reaches its cluster. Empty: what KUBECONFIG names, else "
        "~/.kube/config, else what a pod is given in which the server runs.",
    ).tag(config=True, is_path=True)
    kubernetes_context = Unicode("", help="Which context of the kubeconfig counts. Empty: its current one.").tag(
        config=True
    )
    kubernetes_namespace = Unicode(
        "",
        help="Namespace of the cluster in which jobs run; it has to exist. Empty: that of the context, else default.",
    ).tag(config=True)
    kubernetes_image = Unicode(
        "",
        help="Image of the pods of jobs that name none, with python3 (3.8 or newer). Empty: each job must name one.",
    ).tag(config=True)
    kubernetes_instance = Unicode(
        "",
        help="Word in the labels and names of all that this server makes in a cluster, and that it looks for: at most "
        "20 of a-z, 0-9 and '-'. Servers of one PostgreSQL database need the same, others in one namespace another. "
        "Empty: one is made up, and kept in instance in the data folder.",
    ).tag(config=True)
    kubernetes_secrets = Unicode(
        "acai-secrets",
        help="Name of the Secret of the namespace whose keys are the secrets of jobs. The key 'clinic.hub-token' is "
        "the secret 'hub-token' of the project 'clinic'.",
    ).tag(config=True)
    kubernetes_shared_secrets = Unicode(
        "",
        help="Keys of that Secret that jobs of every project can use, separated by commas; * for all without a '.'. "
        "Empty: jobs can use only those of their project.",
    ).tag(config=True)
    kubernetes_user = Int(
        54321,
        min=0,
        help="Number of the user as which pods run; no image needs to know it. 0: root, for images that must.",
    ).tag(config=True)
    kubernetes_queue = Unicode(
        "", help="Name of a queue of Kueue that admits the Kubernetes Jobs. Empty: none does."
    ).tag(config=True)
    kubernetes_gpu_resource = Unicode("nvidia.com/gpu", help="As what nodes offer their GPUs.").tag(config=True)
    kubernetes_gpu_type_label = Unicode(
        "",
        help="Label of nodes that names the type of their GPUs, like nvidia.com/gpu.product: a job that has GPUs of a "
        "type runs on a node with that. Empty: the type is only what it is priced by.",
    ).tag(config=True)
    kubernetes_template = Unicode(
        "",
        help="YAML file with what is laid over each pod template: node selector, tolerations, affinity, service "
        "account, image pull secrets, runtime class, priority class, volumes, labels; by profile, too. Empty: nothing.",
    ).tag(config=True, is_path=True)
    kubernetes_archives = Unicode(
        "",
        help="Where pods keep archives of environments for other pods: a folder of each node, as an absolute path, or "
        "the name of a PersistentVolumeClaim. Empty: each pod fetches its own from the store.",
    ).tag(config=True)
    kubernetes_archives_gib = Float(
        10.0, min=0.0, help="How large that may get, in GiB; what was not used for longest goes first."
    ).tag(config=True)
    endpoint_url_for_jobs = Unicode(
        "",
        help="Address of the S3 service as pods reach it, where it is another than the server's own s3_endpoint_url, "
        "like http://minio.storage:9000. Empty: the same.",
    ).tag(config=True)
    kubernetes_grows = Bool(
        default_value=False,
        help="Whether the cluster adds nodes when pods wait; then no job is refused because no node is large enough.",
    ).tag(config=True)


def runner_of_cluster(settings: Settings, agent: Path) -> Runner:
    """Return the runner of the cluster that the settings name."""
    try:
        from acai_server.runners.kubernetes.runner import KubernetesRunner
    except ImportError as error:
        reason = "Kubernetes needs aiohttp and PyYAML; pip install 'acai-jupyter[kubernetes]'"
        raise SettingsBroken(reason=reason) from error
    return KubernetesRunner(settings.data_folder / "pods", agent, settings.of_the_cluster(instance(settings)))


def instance(settings: Settings) -> str:
    """Return what tells the objects of this server from others in a cluster; made up once for a data folder."""
    from acai_server.records import write_private

    path = settings.data_folder / "instance"
    if settings.kubernetes_instance:
        return settings.kubernetes_instance
    known = path.read_text().strip() if path.exists() else ""
    if not known:
        known = token_hex(4)
        write_private(path, known, durable=True)
    return known


def look(runner: Any) -> Check:
    """Say whether what runs in the cluster can be seen."""
    from acai_jupyter.contract.checkups import Check, Finding

    trouble = runner.trouble()
    if trouble:
        return Check("cluster", Finding.FAILED, f"Nothing is seen of it: {trouble}.")
    return Check("cluster", Finding.OK, f"namespace {runner.namespace}, its jobs and pods are watched")
