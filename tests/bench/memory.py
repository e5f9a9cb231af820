"""Resident memory of each service after a run."""

from tests.bench import pipeline
from tests.bench.kit import Options, Report, Row


def run(options: Options) -> Report:
    """Megabytes of every process after a run of the pipeline bench: the last one in this process or a new one."""
    if not pipeline.RESIDENT:
        pipeline.run(options)
    report = Report("memory")
    for name, (now, most) in sorted(pipeline.RESIDENT.items()):
        limit = None if name in ("postgres", "broker") else 150
        report.rows.append(Row(f"{name} (most: {most:.0f})", now, "MB", None, limit))
    total = sum(options.some(many) for _, many in pipeline.CASES)
    report.notes.append(f"after {total} turns; the target speaks of 100,000; postgres is its postmaster alone")
    return report
