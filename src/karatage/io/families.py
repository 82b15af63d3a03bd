"""Reading which judge belongs to which family: lines of `judge<TAB>family`."""

from __future__ import annotations

from karatage.errors import InputFileError, OptionError
from karatage.io.files import PathLike
from karatage.io.names import ALIASES, plain
from karatage.io.sources import check_line_ends, check_text, expand
from karatage.text import shorten


def read_families(path: PathLike) -> dict[str, str]:
    """Read a table of judges and their families, set apart by a tab, with or without a header.

    Families are judges that may err alike: models of one maker, prompts of one model, people of one team.
    """
    sources = expand(path)
    if len(sources) != 1:
        raise OptionError(f"families come in one file, not {len(sources)}")
    source = sources[0]
    content = check_text(source, source.read())
    check_line_ends(source, content)
    found: dict[str, str] = {}
    line_of_judge: dict[str, int] = {}
    for number, line in enumerate(content.decode().split("\n"), 1):
        fields = [field.strip() for field in line.split("\t")]
        if not any(fields):
            continue
        if len(fields) != 2 or not all(fields):
            raise InputFileError(source.name, number, f"expected judge<TAB>family, got '{shorten(line.strip())}'")
        judge, family = fields
        if not line_of_judge and plain(judge) in ALIASES["judge"] and plain(family) == "family":
            continue
        if judge in found:
            first = f"on line {line_of_judge[judge]}"
            raise InputFileError(source.name, number, f"judge '{shorten(judge)}' already has a family {first}")
        found[judge], line_of_judge[judge] = family, number
    if not found:
        raise InputFileError(source.name, None, "has a header but no judges")
    return found
