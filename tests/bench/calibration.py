"""Stated confidence and observed correctness on the labelled sets, before and after calibration."""

import asyncio

from services.cli.evaluate import confidence, reliability
from services.cli.evaluate.command import HERE
from services.cli.evaluate.received import ReceptionModel
from shared.policy import Policy
from tests.bench.kit import Options, Report, Row


def run(options: Options) -> Report:
    """Brier score and expected calibration error of each group of statements; `bare` is the value
    before calibration.
    """
    trust = asyncio.run(confidence.measure(HERE, None, None, Policy(), ReceptionModel()))
    report = Report("calibration")
    for name, each in trust.groups.items():
        before, after = each.before, each.after
        limit = before.brier if name == "all" else None
        report.rows.append(Row(f"{name} ({before.n}): Brier after", after.brier, "", before.brier, limit))
        report.rows.append(Row(f"{name}: ECE, equal width, after", after.ece, "", before.ece))
        report.rows.append(Row(f"{name}: ECE, equal mass, after", after.ece_mass, "", before.ece_mass))
    report.rows.append(Row("wrong ones out of sight in the end", 100 * trust.wrong_hidden, "%"))
    report.rows.append(Row("correct ones out of sight in the end", 100 * trust.right_hidden, "%"))
    whole = trust.groups["all"]
    report.notes += reliability.bars("as written", whole.before.bins) + reliability.bars("after", whole.after.bins)
    report.notes += ["bare: the same figure as written, before any reception", *confidence.notes(trust)]
    if options.plot:
        confidence.plot(trust, options.plot)
    return report
