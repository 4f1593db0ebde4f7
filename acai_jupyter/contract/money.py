"""The routes of money: what machines cost, what was spent, what runs have taught, and runs that are made to learn."""

from __future__ import annotations

from acai_jupyter.contract import budgets, prices, profiles, profilings, queries
from acai_jupyter.contract.routes import PAGE_BYTES, PROJECT, Access, Endpoint

GET_PRICES = Endpoint(
    "get_prices",
    "GET",
    f"{PROJECT}/prices",
    "The price book that jobs run under, and those of before.",
    prices.PriceBooks,
)
LIST_PROFILES = Endpoint(
    "list_profiles",
    "GET",
    f"{PROJECT}/profiles",
    "Templates with finished runs, the newest first.",
    profiles.ProfileList,
    query=queries.NumberedQuery,
)
GET_PROFILE = Endpoint(
    "get_profile",
    "GET",
    f"{PROJECT}/profile",
    "The model of a template, how far off it is, and the runs that it knows.",
    profiles.ProfileDetails,
    query=queries.ProfileQuery,
)
PREDICT_RUNS = Endpoint(
    "predict_runs",
    "POST",
    f"{PROJECT}/predictions",
    "How long runs of a template will take and what they will cost, with intervals.",
    profiles.Predictions,
    body=profiles.PredictRuns,
    max_bytes=PAGE_BYTES,
)
PROVISION_JOB = Endpoint(
    "provision_job",
    "POST",
    f"{PROJECT}/provisions",
    "The machine for a run: the cheapest within a time, the fastest within a cost. Nothing is submitted.",
    profiles.Provision,
    body=profiles.ProvisionJob,
)
GET_COSTS = Endpoint(
    "get_costs",
    "GET",
    f"{PROJECT}/costs",
    "What jobs have cost until now, by user, notebook, tag, job or day.",
    prices.Costs,
    query=queries.CostQuery,
)
CREATE_PROFILING = Endpoint(
    "create_profiling",
    "POST",
    f"{PROJECT}/profilings",
    "Make runs of a program to learn how long others take; they are watched and ended as a sweep, by their tag.",
    profilings.Profiling,
    body=profilings.CreateProfiling,
    access=Access.WRITE,
    status=201,
    is_audited=True,
)
PLAN_PROFILING = Endpoint(
    "plan_profiling",
    "POST",
    f"{PROJECT}/profilings/plan",
    "How many runs a profiling could make, and what they would take and cost. Nothing is submitted.",
    profilings.ProfilingPlan,
    body=profilings.CreateProfiling,
    access=Access.WRITE,
)
GET_BUDGET = Endpoint(
    "get_budget",
    "GET",
    f"{PROJECT}/budget",
    "What the project and you may spend, and what is left of it; an admin sees the bounds of all.",
    budgets.BudgetList,
)
SET_BUDGET = Endpoint(
    "set_budget",
    "PATCH",
    f"{PROJECT}/budget",
    "Bound what the project, or a user of it, may spend: by each job, in a calendar month, in all.",
    budgets.BudgetList,
    body=budgets.SetBudget,
    access=Access.ADMIN,
    is_audited=True,
)
