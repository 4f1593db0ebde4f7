"""The price book: per vCPU-hour and GB-hour, dearer per unit as the machine grows."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024**2


@dataclass(frozen=True)
class PriceBook:
    """The unit price rises linearly from `low` of the base at the smallest machine to `high` of it at the largest."""

    version: int = 1
    usd_per_vcpu_hour: float = 0.031611
    usd_per_gib_hour: float = 0.004237
    low: float = 2 / 3
    high: float = 4 / 3
    vcpu_range: tuple[float, float] = (0.5, 8)
    mib_range: tuple[float, float] = (512, 8192)

    def cost_usd(self, vcpu: float, memory_bytes: int, seconds: float) -> float:
        """Return what holding so much of a machine for so long costs."""
        mib = memory_bytes / MIB
        per_hour = vcpu * self.usd_per_vcpu_hour * self._factor(vcpu, self.vcpu_range)
        per_hour += mib / 1024 * self.usd_per_gib_hour * self._factor(mib, self.mib_range)
        return per_hour * seconds / 3600

    def _factor(self, amount: float, span: tuple[float, float]) -> float:
        share = (amount - span[0]) / (span[1] - span[0])
        return self.low + (self.high - self.low) * min(1.0, max(0.0, share))
