"""Every route of the API, once: the server binds functions to these, the client calls them, OpenAPI is made of them."""

from __future__ import annotations

from typing import Any

from acai_jupyter.contract import (
    account_endpoints,
    checkups,
    drawings,
    events,
    files,
    filesets,
    garbage,
    jobs,
    lineage,
    metadata,
    money,
    overviews,
    plans,
    projects,
    provenance,
    queries,
    sign_in,
    sweeps,
    uploads,
)
from acai_jupyter.contract.routes import BASE, PAGE_BYTES, PROJECT, Access, Endpoint

__all__ = ["ALL", "BASE", "PAGE_BYTES", "PROJECT", "Access", "Endpoint"]

GET_STATUS = Endpoint("get_status", "GET", "/v1/status", "What this server is and who you are to it.", projects.Status)
GET_PROJECT_STATUS = Endpoint(
    "get_project_status",
    "GET",
    f"{PROJECT}/status",
    "What this server is and who you are in a project.",
    projects.Status,
)
GET_HEALTH = Endpoint(
    "get_health", "GET", "/v1/health", "Whether the server's process answers.", projects.Health, access=Access.NOTHING
)
GET_READINESS = Endpoint(
    "get_readiness",
    "GET",
    "/v1/ready",
    "Whether the server can serve: its database answers, or the server it is attached to is known. With the number of "
    "damaged contents.",
    projects.Readiness,
    access=Access.NOTHING,
)
GET_METRICS = Endpoint(
    "get_metrics",
    "GET",
    "/v1/metrics",
    "What the server did and holds, in the text format of Prometheus.",
    dict[str, Any],
    access=Access.OBSERVE,
    media_types=("text/plain",),
)
GET_CHECKUP = Endpoint(
    "get_checkup",
    "GET",
    "/v1/checkup",
    "What of the things this server stands on works, tried now; why not, and what it is, to a global admin.",
    checkups.Checkup,
    access=Access.WRITE,
)
GET_OPENAPI = Endpoint("get_openapi", "GET", "/openapi.json", "This document.", dict[str, Any])

LIST_EVENTS = Endpoint(
    "list_events",
    "GET",
    f"{PROJECT}/events",
    "What changed after an event's number.",
    events.EventPage,
    query=queries.EventQuery,
)
STREAM_EVENTS = Endpoint(
    "stream_events",
    "GET",
    f"{PROJECT}/events/stream",
    "A WebSocket that sends pages of events as they happen.",
    events.EventPage,
    query=queries.EventQuery,
)

CREATE_UPLOAD = Endpoint(
    "create_upload",
    "POST",
    f"{PROJECT}/uploads",
    "Start an upload session.",
    uploads.Upload,
    body=uploads.CreateUpload,
    access=Access.WRITE,
    status=201,
    max_bytes=PAGE_BYTES,
)
LIST_UPLOADS = Endpoint(
    "list_uploads",
    "GET",
    f"{PROJECT}/uploads",
    "Your upload sessions in a state, the newest first.",
    uploads.UploadList,
    query=queries.UploadQuery,
)
GET_UPLOAD = Endpoint("get_upload", "GET", f"{PROJECT}/uploads/{{upload}}", "One upload session.", uploads.Upload)
STAGE_FILES = Endpoint(
    "stage_files",
    "POST",
    f"{PROJECT}/uploads/{{upload}}/files",
    "Stage a page of names in an upload session.",
    uploads.Staged,
    body=uploads.StageFiles,
    access=Access.WRITE,
    max_bytes=PAGE_BYTES,
)
CREATE_TARGETS = Endpoint(
    "create_targets",
    "POST",
    f"{PROJECT}/uploads/{{upload}}/targets",
    "Get the places to send an upload session's objects to.",
    uploads.TargetList,
    body=uploads.CreateTargets,
    access=Access.WRITE,
    status=201,
)
ADD_OBJECTS = Endpoint(
    "add_objects",
    "POST",
    f"{PROJECT}/uploads/{{upload}}/objects",
    "Tell of objects that have arrived.",
    uploads.Arrived,
    body=uploads.AddObjects,
    access=Access.WRITE,
    max_bytes=PAGE_BYTES,
)
COMMIT_UPLOAD = Endpoint(
    "commit_upload",
    "POST",
    f"{PROJECT}/uploads/{{upload}}/commit",
    "Give the files of an upload session their versions.",
    uploads.UploadResult,
    body=uploads.CommitUpload,
    access=Access.WRITE,
    max_bytes=PAGE_BYTES,
    is_audited=True,
)
ABORT_UPLOAD = Endpoint(
    "abort_upload",
    "DELETE",
    f"{PROJECT}/uploads/{{upload}}",
    "Give an upload session up, and delete what was sent.",
    uploads.Upload,
    access=Access.WRITE,
    makes_room=True,
)

LIST_FOLDER = Endpoint(
    "list_folder",
    "GET",
    f"{PROJECT}/folder",
    "The children of a folder, each file with its latest version.",
    files.FolderPage,
    query=queries.FolderQuery,
)
LIST_FILES = Endpoint(
    "list_files",
    "GET",
    f"{PROJECT}/files",
    "The file versions that a spec names, by path.",
    filesets.EntryPage,
    query=queries.SpecQuery,
)
LIST_VERSIONS = Endpoint(
    "list_versions",
    "GET",
    f"{PROJECT}/versions",
    "The versions of a file, the newest first.",
    files.VersionPage,
    query=queries.VersionQuery,
)
FETCH_FILES = Endpoint(
    "fetch_files",
    "POST",
    f"{PROJECT}/files/fetch",
    "Where the bytes of what a spec names can be fetched.",
    files.FetchPage,
    body=files.FetchFiles,
)
REPORT_DAMAGE = Endpoint(
    "report_damage",
    "POST",
    f"{PROJECT}/files/damage",
    "Report files that could not be read; the server looks into the store itself, and marks those that are damaged.",
    files.DamageVerdict,
    body=files.DamageReport,
)
REMOVE_FILES = Endpoint(
    "remove_files",
    "POST",
    f"{PROJECT}/files/remove",
    "Delete file versions that no file set refers to, or take that back.",
    files.Removed,
    body=files.RemoveFiles,
    access=Access.WRITE,
    is_audited=True,
    makes_room=True,
)
REMOVE_MANY_FILES = Endpoint(
    "remove_many_files",
    "POST",
    f"{PROJECT}/files/remove-many",
    "Delete versions of up to 1,000 files, or take that back; those that cannot be deleted stay.",
    files.RemovedFiles,
    body=files.RemoveManyFiles,
    access=Access.WRITE,
    max_bytes=PAGE_BYTES,
    is_audited=True,
    makes_room=True,
)
PUT_OBJECT = Endpoint(
    "put_object",
    "PUT",
    "/v1/objects/{key}",
    "Send the bytes of an object to a signed URL.",
    dict[str, Any],
    query=queries.ObjectQuery,
    access=Access.SIGNATURE,
)
GET_OBJECT = Endpoint(
    "get_object",
    "GET",
    "/v1/objects/{key}",
    "Fetch an object, or with a Range header a part of it, from a signed URL.",
    dict[str, Any],
    query=queries.ObjectQuery,
    access=Access.SIGNATURE,
    media_types=("application/octet-stream",),
)

LIST_FILE_SETS = Endpoint(
    "list_file_sets",
    "GET",
    f"{PROJECT}/filesets",
    "The newest version of every file set.",
    filesets.FileSetPage,
    query=queries.FileSetQuery,
)
GET_FILE_SET = Endpoint(
    "get_file_set", "GET", f"{PROJECT}/filesets/{{ref}}", "One version of a file set.", filesets.FileSet
)
LIST_ENTRIES = Endpoint(
    "list_entries",
    "GET",
    f"{PROJECT}/filesets/{{ref}}/entries",
    "The file versions in a file set.",
    filesets.EntryPage,
    query=queries.EntryQuery,
)
CREATE_FILE_SET = Endpoint(
    "create_file_set",
    "POST",
    f"{PROJECT}/filesets",
    "Make the next version of a file set.",
    filesets.CreatedFileSet,
    body=filesets.CreateFileSet,
    access=Access.WRITE,
    status=201,
    max_bytes=PAGE_BYTES,
    is_audited=True,
)
LIST_FILE_SET_VERSIONS = Endpoint(
    "list_file_set_versions",
    "GET",
    f"{PROJECT}/filesets/{{ref}}/versions",
    "The versions of a file set, the newest first.",
    filesets.VersionsPage,
    query=queries.NumberedQuery,
)
UPDATE_FILE_SET = Endpoint(
    "update_file_set",
    "PATCH",
    f"{PROJECT}/filesets/{{ref}}",
    "Change the note of a file set version.",
    filesets.FileSet,
    body=filesets.UpdateFileSet,
    access=Access.WRITE,
    is_audited=True,
)
REMOVE_FILE_SETS = Endpoint(
    "remove_file_sets",
    "POST",
    f"{PROJECT}/filesets/{{ref}}/remove",
    "Delete a file set version or all of a name, or take that back.",
    filesets.RemovedFileSets,
    body=filesets.RemoveFileSets,
    access=Access.WRITE,
    is_audited=True,
    makes_room=True,
)
LIST_ALIASES = Endpoint(
    "list_aliases",
    "GET",
    f"{PROJECT}/filesets/{{ref}}/aliases",
    "The aliases of a file set, and when they stood for which version.",
    filesets.AliasPage,
    query=queries.NumberedQuery,
)
SET_ALIAS = Endpoint(
    "set_alias",
    "PUT",
    f"{PROJECT}/filesets/{{ref}}/aliases/{{alias}}",
    "Let an alias stand for a file set version.",
    filesets.FileSet,
    access=Access.WRITE,
    is_audited=True,
)
REMOVE_ALIAS = Endpoint(
    "remove_alias",
    "DELETE",
    f"{PROJECT}/filesets/{{ref}}/aliases/{{alias}}",
    "Take an alias away.",
    filesets.AliasPage,
    access=Access.WRITE,
    is_audited=True,
)
RESOLVE_SOURCES = Endpoint(
    "resolve_sources",
    "POST",
    f"{PROJECT}/resolve",
    "The file versions that a list of sources names, as a file set of them would hold them.",
    filesets.Resolved,
    body=filesets.ResolveSources,
    max_bytes=PAGE_BYTES,
)
COMPARE_SOURCES = Endpoint(
    "compare_sources",
    "POST",
    f"{PROJECT}/compare",
    "How the files of one list of sources differ from those of another.",
    filesets.Comparison,
    body=filesets.CompareSources,
    max_bytes=PAGE_BYTES,
)
GET_RETENTION = Endpoint(
    "get_retention", "GET", f"{PROJECT}/retention", "What the project keeps of old versions.", filesets.Retention
)
SET_RETENTION = Endpoint(
    "set_retention",
    "PUT",
    f"{PROJECT}/retention",
    "Say what the project keeps of old versions.",
    filesets.Retention,
    body=filesets.Retention,
    access=Access.ADMIN,
    is_audited=True,
    makes_room=True,
)
COLLECT_GARBAGE = Endpoint(
    "collect_garbage",
    "POST",
    f"{PROJECT}/collections",
    "Begin to find, and unless it is a dry run to free, what nothing refers to; or join the run that does.",
    garbage.Collection,
    body=garbage.CollectGarbage,
    access=Access.WRITE,
    status=202,
    is_audited=True,
    makes_room=True,
)
GET_COLLECTION = Endpoint(
    "get_collection",
    "GET",
    f"{PROJECT}/collections/{{collection}}",
    "How far a collection of garbage is.",
    garbage.Collection,
    query=queries.CollectionQuery,
)

CREATE_JOB = Endpoint(
    "create_job",
    "POST",
    f"{PROJECT}/jobs",
    "Submit a job.",
    jobs.Job,
    body=jobs.CreateJob,
    query=queries.SubmissionQuery,
    access=Access.WRITE,
    status=201,
    is_audited=True,
)
GET_OVERVIEW = Endpoint(
    "get_overview",
    "GET",
    f"{PROJECT}/overview",
    "The jobs that are at work, those that wait and why, and those that ended last.",
    overviews.Overview,
    query=queries.OverviewQuery,
)
LIST_JOBS = Endpoint(
    "list_jobs", "GET", f"{PROJECT}/jobs", "Jobs, the newest first.", jobs.JobPage, query=queries.JobQuery
)
KILL_JOBS = Endpoint(
    "kill_jobs",
    "POST",
    f"{PROJECT}/jobs/kill",
    "End many jobs; nothing is wrong with those that have ended.",
    jobs.KilledJobs,
    body=jobs.KillJobs,
    access=Access.WRITE,
    is_audited=True,
    makes_room=True,
)
GET_JOB = Endpoint(
    "get_job", "GET", f"{PROJECT}/jobs/{{job}}", "One job with its attempts.", jobs.Job, query=queries.WaitQuery
)
GET_LOG = Endpoint(
    "get_log", "GET", f"{PROJECT}/jobs/{{job}}/log", "A stretch of a job's log.", jobs.LogPage, query=queries.LogQuery
)
LIST_LOG_LINES = Endpoint(
    "list_log_lines",
    "GET",
    f"{PROJECT}/jobs/{{job}}/log/lines",
    "Lines of a job's log, by their numbers or by what they have.",
    jobs.FoundLines,
    query=queries.LogLines,
)
DOWNLOAD_LOG = Endpoint(
    "download_log",
    "GET",
    f"{PROJECT}/jobs/{{job}}/log.txt",
    "The whole log of an attempt, byte for byte.",
    dict[str, Any],
    query=queries.AttemptQuery,
    media_types=("text/plain",),
)
GET_REQUEST = Endpoint(
    "get_request",
    "GET",
    f"{PROJECT}/jobs/{{job}}/request",
    "All that is needed to run a job again.",
    jobs.JobRequest,
)
GET_DISPLAYS = Endpoint(
    "get_displays", "GET", f"{PROJECT}/jobs/{{job}}/displays", "What a job's cell displayed.", jobs.Displays
)
EXPLAIN_MISS = Endpoint(
    "explain_miss",
    "GET",
    f"{PROJECT}/jobs/{{job}}/miss",
    "Why no earlier result answered a job: what differs from the nearest.",
    jobs.MissReport,
)
KILL_JOB = Endpoint(
    "kill_job",
    "POST",
    f"{PROJECT}/jobs/{{job}}/kill",
    "End a job.",
    jobs.Job,
    access=Access.WRITE,
    is_audited=True,
    makes_room=True,
)
PLAN_JOB = Endpoint(
    "plan_job",
    "POST",
    f"{PROJECT}/plans",
    "What would happen if a job was submitted now, refusals included; nothing is kept.",
    plans.Plan,
    body=plans.PlanJob,
    access=Access.WRITE,
    max_bytes=PAGE_BYTES,
)
CREATE_SWEEP = Endpoint(
    "create_sweep",
    "POST",
    f"{PROJECT}/sweeps",
    "Submit a job for each combination of values, all or none.",
    sweeps.Sweep,
    body=sweeps.CreateSweep,
    query=queries.SubmissionQuery,
    access=Access.WRITE,
    status=201,
    is_audited=True,
)
GET_SWEEP = Endpoint(
    "get_sweep",
    "GET",
    f"{PROJECT}/sweeps/{{sweep}}",
    "How the jobs with a tag stand.",
    sweeps.Sweep,
    query=queries.SweepQuery,
)
GET_SWEEP_TABLE = Endpoint(
    "get_sweep_table",
    "GET",
    f"{PROJECT}/sweeps/{{sweep}}/table",
    "The jobs with a tag, with what they differ in and what was attached to them.",
    sweeps.SweepTable,
)
KILL_SWEEP = Endpoint(
    "kill_sweep",
    "POST",
    f"{PROJECT}/sweeps/{{sweep}}/kill",
    "End all jobs with a tag.",
    sweeps.Sweep,
    access=Access.WRITE,
    is_audited=True,
    makes_room=True,
)
REMOVE_JOB = Endpoint(
    "remove_job",
    "POST",
    f"{PROJECT}/jobs/{{job}}/remove",
    "Delete a job that has ended, or take that back.",
    jobs.Job,
    body=jobs.RemoveJob,
    access=Access.WRITE,
    is_audited=True,
    makes_room=True,
)

GET_PRICES = money.GET_PRICES
LIST_PROFILES = money.LIST_PROFILES
GET_PROFILE = money.GET_PROFILE
PREDICT_RUNS = money.PREDICT_RUNS
PROVISION_JOB = money.PROVISION_JOB
GET_COSTS = money.GET_COSTS
CREATE_PROFILING = money.CREATE_PROFILING
PLAN_PROFILING = money.PLAN_PROFILING
GET_BUDGET = money.GET_BUDGET
SET_BUDGET = money.SET_BUDGET

GET_NEIGHBOURHOOD = Endpoint(
    "get_neighbourhood",
    "GET",
    f"{PROJECT}/provenance/{{ref}}",
    "The graph around a file set version or a job, so many steps back and forward.",
    provenance.Graph,
    query=queries.NeighbourhoodQuery,
)
GET_ORIGIN = Endpoint(
    "get_origin",
    "GET",
    f"{PROJECT}/provenance/{{ref}}/back",
    "One step back: the action that made a file set version, and what went into it.",
    provenance.Graph,
)
GET_SOURCES = Endpoint(
    "get_sources",
    "GET",
    f"{PROJECT}/provenance/{{ref}}/sources",
    "What somebody made a file set version of, every set and file by its version.",
    provenance.MadeOf,
)

GET_PROJECT_GRAPH = Endpoint(
    "get_project_graph",
    "GET",
    f"{PROJECT}/provenance",
    "The graph of a project by the names of its file sets, the newest version of each, what changed last first.",
    lineage.ProjectGraph,
    query=queries.ProjectGraphQuery,
)
LIST_USES = Endpoint(
    "list_uses",
    "GET",
    f"{PROJECT}/provenance/{{ref}}/forward",
    "One step forward: the actions that used a file set version, the newest first, and what they made.",
    provenance.Graph,
    query=queries.UsesQuery,
)

DRAW_GRAPH = Endpoint(
    "draw_graph",
    "POST",
    f"{PROJECT}/drawings",
    "A drawing of the graph around a file set version or a job, or of the whole project.",
    drawings.Drawing,
    body=drawings.DrawGraph,
)

GET_CLOSURE = Endpoint(
    "get_closure",
    "GET",
    f"{PROJECT}/provenance/{{ref}}/closure",
    "All that a file set version was made of, or all that was made of it, as lines of JSON.",
    dict[str, Any],
    query=queries.ClosureQuery,
    media_types=("application/x-ndjson",),
)
GET_PATHS = Endpoint(
    "get_paths",
    "GET",
    f"{PROJECT}/provenance/{{ref}}/paths",
    "All that lies between two file set versions, and the ways from one to the other.",
    lineage.Paths,
    query=queries.PathQuery,
)
GET_AFFECTED = Endpoint(
    "get_affected",
    "GET",
    f"{PROJECT}/provenance/{{ref}}/affected",
    "The sets and jobs that would be affected if a file set version changed.",
    lineage.Affected,
    query=queries.AffectedQuery,
)
EXPORT_LINEAGE = Endpoint(
    "export_lineage",
    "GET",
    f"{PROJECT}/provenance/{{ref}}/export",
    "A lineage in the format of other programs.",
    dict[str, Any],
    query=queries.ExportQuery,
    media_types=("application/json", "application/x-ndjson", "application/graphml+xml", "text/vnd.graphviz"),
)
GET_FILE_ORIGIN = Endpoint(
    "get_file_origin",
    "GET",
    f"{PROJECT}/origin",
    "Which job or upload wrote a file version, and through which sets it came.",
    lineage.FileOrigin,
    query=queries.OriginQuery,
)
EXPLAIN_DIFFERENCE = Endpoint(
    "explain_difference",
    "GET",
    f"{PROJECT}/difference",
    "Why two file set versions, or two jobs, differ: in what their lineages do, the nearest cause first.",
    lineage.WhyDifferent,
    query=queries.DifferenceQuery,
)

GET_METADATA = Endpoint(
    "get_metadata",
    "GET",
    f"{PROJECT}/metadata",
    "All that is known of one thing by key.",
    metadata.Metadata,
    query=queries.ThingQuery,
)
CHANGE_METADATA = Endpoint(
    "change_metadata",
    "POST",
    f"{PROJECT}/metadata",
    "Set and delete attributes and labels of many things.",
    metadata.Changed,
    body=metadata.ChangeMetadata,
    access=Access.WRITE,
    max_bytes=PAGE_BYTES,
    is_audited=True,
)
LIST_CHANGES = Endpoint(
    "list_changes",
    "GET",
    f"{PROJECT}/metadata/changes",
    "Who changed what on one thing, the newest first.",
    metadata.ChangePage,
    query=queries.ChangeQuery,
)
LIST_KEYS = Endpoint(
    "list_keys",
    "GET",
    f"{PROJECT}/metadata/keys",
    "The keys that can be used on a kind of things.",
    metadata.KeyList,
    query=queries.KeyQuery,
)
FIND_THINGS = Endpoint(
    "find_things",
    "POST",
    f"{PROJECT}/find",
    "The files, file sets or jobs that a query is true of.",
    metadata.FoundPage,
    body=metadata.FindThings,
)
COUNT_THINGS = Endpoint(
    "count_things",
    "POST",
    f"{PROJECT}/find/count",
    "How many things a query is true of, and which values of some keys these have.",
    metadata.Counted,
    body=metadata.CountThings,
)

ALL: tuple[Endpoint[Any], ...] = (
    *(value for value in list(globals().values()) if isinstance(value, Endpoint)),
    *account_endpoints.ALL,
    *sign_in.ALL,
)
