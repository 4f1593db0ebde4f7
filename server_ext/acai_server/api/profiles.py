"""Profiles, predictions and machines over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.profiles import (
    Predictions,
    PredictRuns,
    ProfileDetails,
    ProfileList,
    Provision,
    ProvisionJob,
)
from acai_jupyter.contract.queries import NumberedQuery, ProfileQuery

if TYPE_CHECKING:
    from acai_server.api.call import Call, Operations


def list_profiles(call: Call) -> ProfileList:
    """List the templates with finished runs."""
    return call.services.provisioner.profiles(call.project, call.queried(NumberedQuery))


def get_profile(call: Call) -> ProfileDetails:
    """Return what is believed of a template."""
    asked = call.queried(ProfileQuery)
    return call.services.provisioner.profile(call.project, asked.template, asked.version)


def predict_runs(call: Call) -> Predictions:
    """Say how long runs will take."""
    return call.services.provisioner.predict(call.project, call.sent(PredictRuns))


def provision_job(call: Call) -> Provision:
    """Choose a machine."""
    return call.services.provisioner.provision(call.project, call.sent(ProvisionJob))


OPERATIONS: Operations = {
    endpoints.LIST_PROFILES: list_profiles,
    endpoints.GET_PROFILE: get_profile,
    endpoints.PREDICT_RUNS: predict_runs,
    endpoints.PROVISION_JOB: provision_job,
}
