"""One unit of work: the records of every service inside one transaction."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from acai_server.db.actions import ActionRecords
from acai_server.db.aliases import AliasRecords
from acai_server.db.attempts import AttemptRecords
from acai_server.db.attributes import AttributeRecords
from acai_server.db.audit import AuditRecords
from acai_server.db.blobs import BlobRecords
from acai_server.db.budgets import BudgetRecords
from acai_server.db.burials import BurialRecords
from acai_server.db.changes import ChangeRecords
from acai_server.db.closures import ClosureRecords
from acai_server.db.costs import CostRecords
from acai_server.db.damage import DamageRecords
from acai_server.db.dumps import DumpRecords
from acai_server.db.events import EventRecords
from acai_server.db.facets import FacetRecords
from acai_server.db.files import FileRecords
from acai_server.db.filesets import FileSetRecords
from acai_server.db.garbage import GarbageRecords
from acai_server.db.graph import GraphRecords
from acai_server.db.identity import IdentityRecords
from acai_server.db.jobs import JobRecords
from acai_server.db.links import LinkRecords
from acai_server.db.metrics import MetricRecords
from acai_server.db.models import ModelRecords
from acai_server.db.overviews import OverviewRecords
from acai_server.db.prices import PriceRecords
from acai_server.db.profilings import ProfilingRecords
from acai_server.db.projects import ProjectRecords
from acai_server.db.queue import QueueRecords
from acai_server.db.restricted import RestrictedRecords
from acai_server.db.restrictions import RestrictionRecords
from acai_server.db.retention import RetentionRecords
from acai_server.db.runs import RunRecords
from acai_server.db.search import SearchRecords
from acai_server.db.shown_jobs import ShownJobs
from acai_server.db.staging import StagingRecords
from acai_server.db.subjects import SubjectRecords
from acai_server.db.sweeping import SweepingRecords
from acai_server.db.sweeps import SweepRecords
from acai_server.db.tokens import TokenRecords
from acai_server.db.uploads import UploadRecords
from acai_server.db.users import UserRecords

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from acai_server.clock import Clock
    from acai_server.db.chunks import ChunkMemory
    from acai_server.db.identity import KnownIdentity


class Work:
    """What a service can ask of the database and write to it, all or nothing."""

    def __init__(
        self, session: Session, clock: Clock, backend: str, *, chunks: ChunkMemory, identity: KnownIdentity
    ) -> None:
        self._session = session
        self._chunks = chunks
        self._identity = identity
        self.clock = clock
        self.events = EventRecords(session, clock, backend)

    @cached_property
    def projects(self) -> ProjectRecords:
        """Projects, and who somebody is in one."""
        return ProjectRecords(self._session)

    @cached_property
    def users(self) -> UserRecords:
        """Users, and what each is in a project."""
        return UserRecords(self._session)

    @cached_property
    def tokens(self) -> TokenRecords:
        """Tokens."""
        return TokenRecords(self._session)

    @cached_property
    def audit(self) -> AuditRecords:
        """Who did what."""
        return AuditRecords(self._session)

    @cached_property
    def restrictions(self) -> RestrictionRecords:
        """What not everybody may read or write, and groups of users."""
        return RestrictionRecords(self._session)

    @cached_property
    def restricted(self) -> RestrictedRecords:
        """What is behind restrictions."""
        return RestrictedRecords(self._session)

    @cached_property
    def models(self) -> ModelRecords:
        """Versions of runtime models."""
        return ModelRecords(self._session)

    @cached_property
    def metrics(self) -> MetricRecords:
        """Sums for those who watch."""
        return MetricRecords(self._session)

    @cached_property
    def identity(self) -> IdentityRecords:
        """Which database this is."""
        return IdentityRecords(self._session)

    @cached_property
    def dumps(self) -> DumpRecords:
        """All records, as they are carried elsewhere."""
        return DumpRecords(self._session)

    @cached_property
    def uploads(self) -> UploadRecords:
        """Upload sessions."""
        return UploadRecords(self._session, self._identity)

    @cached_property
    def staging(self) -> StagingRecords:
        """What upload sessions hold."""
        return StagingRecords(self._session)

    @cached_property
    def blobs(self) -> BlobRecords:
        """Objects and the contents in them."""
        return BlobRecords(self._session)

    @cached_property
    def damage(self) -> DamageRecords:
        """Damaged contents."""
        return DamageRecords(self._session)

    @cached_property
    def files(self) -> FileRecords:
        """Files and their versions."""
        return FileRecords(self._session)

    @cached_property
    def file_sets(self) -> FileSetRecords:
        """File sets and the chunks of their manifests."""
        return FileSetRecords(self._session, self._chunks)

    @cached_property
    def aliases(self) -> AliasRecords:
        """Names that stand for versions of file sets."""
        return AliasRecords(self._session)

    @cached_property
    def burials(self) -> BurialRecords:
        """Tombstones of many file versions."""
        return BurialRecords(self._session)

    @cached_property
    def retention(self) -> RetentionRecords:
        """What projects keep of old versions."""
        return RetentionRecords(self._session)

    @cached_property
    def garbage(self) -> GarbageRecords:
        """Contents that nothing refers to."""
        return GarbageRecords(self._session)

    @cached_property
    def sweeping(self) -> SweepingRecords:
        """What else nothing refers to."""
        return SweepingRecords(self._session)

    @cached_property
    def actions(self) -> ActionRecords:
        """What made what, as it is written."""
        return ActionRecords(self._session)

    @cached_property
    def graph(self) -> GraphRecords:
        """The provenance graph, as it is asked."""
        return GraphRecords(self._session)

    @cached_property
    def closures(self) -> ClosureRecords:
        """What lies far before and behind in it."""
        return ClosureRecords(self._session)

    @cached_property
    def links(self) -> LinkRecords:
        """Which names of file sets hang together."""
        return LinkRecords(self._session)

    @cached_property
    def jobs(self) -> JobRecords:
        """The life of jobs."""
        return JobRecords(self._session, self._identity)

    @cached_property
    def attempts(self) -> AttemptRecords:
        """Attempts of jobs."""
        return AttemptRecords(self._session)

    @cached_property
    def queue(self) -> QueueRecords:
        """What waits, and what is held."""
        return QueueRecords(self._session)

    @cached_property
    def overviews(self) -> OverviewRecords:
        """Which jobs are at work, wait, and ended last."""
        return OverviewRecords(self._session)

    @cached_property
    def shown_jobs(self) -> ShownJobs:
        """Jobs as people see them."""
        return ShownJobs(self._session)

    @cached_property
    def prices(self) -> PriceRecords:
        """Price books."""
        return PriceRecords(self._session)

    @cached_property
    def runs(self) -> RunRecords:
        """Runs that tell how long others will take."""
        return RunRecords(self._session)

    @cached_property
    def profilings(self) -> ProfilingRecords:
        """Runs that are made to learn from."""
        return ProfilingRecords(self._session)

    @cached_property
    def budgets(self) -> BudgetRecords:
        """What may be spent."""
        return BudgetRecords(self._session)

    @cached_property
    def costs(self) -> CostRecords:
        """What attempts have cost."""
        return CostRecords(self._session)

    @cached_property
    def sweeps(self) -> SweepRecords:
        """Groups of jobs."""
        return SweepRecords(self._session)

    @cached_property
    def attributes(self) -> AttributeRecords:
        """Attributes of things."""
        return AttributeRecords(self._session)

    @cached_property
    def changes(self) -> ChangeRecords:
        """Who changed attributes."""
        return ChangeRecords(self._session)

    @cached_property
    def subjects(self) -> SubjectRecords:
        """What attributes stand on."""
        return SubjectRecords(self._session)

    @cached_property
    def facets(self) -> FacetRecords:
        """How many things a query is true of, and their values."""
        return FacetRecords(self._session)

    @cached_property
    def search(self) -> SearchRecords:
        """Finding things."""
        return SearchRecords(self._session)
