"""All campaigns by name, in the order in which they run."""

from __future__ import annotations

from tests.attack import existing
from tests.attack.access import access
from tests.attack.campaign import Campaign
from tests.attack.clients import slow_clients
from tests.attack.folders import hostile_folders
from tests.attack.forgeries import forgeries
from tests.attack.jobs import hostile_jobs
from tests.attack.ordinary_user import ordinary_user
from tests.attack.power.loss import power_loss
from tests.attack.restrictions import restrictions
from tests.attack.stores import disk_faults, store_faults

STORES = ("folder", "s3", "postgres", "team")
CAMPAIGNS = {
    one.name: one
    for one in (
        Campaign("kills", "clients and servers may be killed at any moment", existing.kills, STORES),
        Campaign("lives", "every job reaches one correct final state despite kills", existing.lives, STORES),
        Campaign(
            "fuzz", "no request is a fault, and each answer is as documented", existing.fuzz, ("folder", "postgres")
        ),
        Campaign("access", "unauthorised requests are refused, reveal nothing and change nothing", access),
        Campaign("restrictions", "users who fail either of two restrictions see nothing", restrictions),
        Campaign("forgeries", "forged crates and backups do no harm", forgeries),
        Campaign("hostile-jobs", "a job that means harm harms only itself", hostile_jobs),
        Campaign("hostile-folders", "a stranger's folder takes nothing along and is not obeyed", hostile_folders),
        Campaign("slow-clients", "slow, silent and vanished clients delay no other user", slow_clients),
        Campaign("store-faults", "an S3 server that fails costs patience, never data", store_faults),
        Campaign("disk-faults", "a disk that fails costs an error, never data", disk_faults),
        Campaign("power-loss", "what was acknowledged survives a power cut", power_loss),
        Campaign("ordinary-user", "nothing needs root", ordinary_user),
    )
}
