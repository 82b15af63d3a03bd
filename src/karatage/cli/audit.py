"""`karatage audit`."""

from __future__ import annotations

from typing import Annotated

from karatage.cli.options import FILE, FLAT, Families, GoldFiles, JudgmentFiles, ModelNames, Output, Reading, Seed, Top
from karatage.cli.output import choose_style, put, write_page
from karatage.cli.parsing import Reads
from karatage.cli.terminal import progress
from karatage.errors import OptionError


def audit(
    judgments: JudgmentFiles = (),
    *,
    gold: GoldFiles = (),
    families: Families = None,
    approach: ModelNames = (),
    pairs: bool = False,
    record: Annotated[str | None, FILE, Reads(store=True)] = None,
    top: Top = 20,
    seed: Seed = 0,
    reading: Annotated[Reading, FLAT] = Reading(),
    to: Annotated[Output, FLAT] = Output(),
) -> None:
    """Audit judges.

    Args:
        approach: Models to compare with the best judge; may be repeated.
        pairs: Show pairs of judges instead of single judges.
        record: Earlier studies of these judges; a file that compare --update-record writes.
    """
    from karatage.decisions.audit import audit as audit_judges
    from karatage.io.models import read_families
    from karatage.io.records import read_studies
    from karatage.views.audit import view_pairs

    choose_style(to.format, to.output)
    if not judgments:
        raise OptionError("no judgments were given; name their files, e.g. karatage audit crowd.csv")
    family_of = None if families is None else read_families(families)
    studies = None if record is None else read_studies(record)
    graded, trusted = reading.read_both(judgments, gold, quiet=to.quiet)
    with progress("Auditing", quiet=to.quiet):
        found = audit_judges(graded, gold=trusted, families=family_of, approach=approach, record=studies, rng=seed)
    put(
        found,
        to,
        (lambda: write_page(view_pairs(found), top=top)) if pairs else None,
        frame=lambda: found.pairs if pairs else found.to_frame(),
        facts=lambda: found.tell_facts(pairs=pairs),
        top=top,
        output=to.output,
    )
