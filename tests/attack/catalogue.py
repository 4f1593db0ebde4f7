"""All campaigns by name, in the order in which they run."""

from __future__ import annotations

from tests.attack import existing
from tests.attack.campaign import Campaign
from tests.attack.forgeries import forgeries

STORES = ("folder", "s3", "postgres", "team")
CAMPAIGNS = {
    one.name: one
    for one in (
        Campaign("kills", "clients and servers may be killed at any moment", existing.kills, STORES),
        Campaign("lives", "every job has one right end, whoever is killed", existing.lives, STORES),
        Campaign("fuzz", "no request is a fault, and each answer is as documented", existing.fuzz, STORES),
        Campaign("forgeries", "forged crates and backups do no harm", forgeries),
    )
}
