"""A page as text of 80 columns for the terminal: tables, explanations and the sentence, without charts."""

from __future__ import annotations

import io
import shlex
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from karatage.text import counted, make_printable, shorten
from karatage.views.page import Page, Section
from karatage.views.table import (
    Table,
    list_marks,
    stands_right,
    take_columns,
    take_rows,
    write_caption,
    write_column,
    write_header,
)

WIDTH = 80
NAME_WIDTH, HEADER_WIDTH = 16, 24
GAP = 3  # between columns
BEST, ITEM = "*", "- "
ALL_ROWS, ALL_COLUMNS = "--top 0 shows all", "--format json has all"
MOST, IN_FRAME = 20, "to_frame() has all"  # rows of a result that prints itself


def render_page(
    page: Page, *, top: int = 0, detail: bool = False, colour: bool = False, all_rows: str = ALL_ROWS
) -> str:
    """A page without its charts.

    Args:
        page: What to print.
        top: Rows to show of long tables; 0: all.
        detail: Whether details are printed, too.
        colour: Whether the terminal shows colours.
        all_rows: How to see the rows that are left out.
    """
    lines = [_say(page.title), Text("")]
    for section in (page if detail else page.short).sections:
        lines += _show_section(section, top, all_rows)
    return print_lines([*lines, _say(page.sentence)], colour=colour)


def render_excerpt(page: Page) -> str:
    """The sentence and the first table of a page, as a result prints itself."""
    tables = [table for part in (*page.short.sections, *page.sections) for table in part.tables][:1]
    shown = [line for table in tables for line in show_table(table, top=MOST, all_rows=IN_FRAME, all_columns=IN_FRAME)]
    return print_lines([_say(page.sentence), Text(""), *shown]).strip("\n")


def print_lines(lines: Iterable[Text], *, colour: bool = False) -> str:
    """Lines of text, wrapped where they are too long."""
    written = io.StringIO()
    console = Console(
        file=written, width=WIDTH, highlight=False, force_terminal=colour, color_system="standard" if colour else None
    )
    for line in lines:
        console.print(line, crop=False, soft_wrap=bool(line.no_wrap))
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines()) + "\n"


def print_paragraphs(paragraphs: Iterable[str]) -> str:
    """Paragraphs below a page; a command (`$ ...`) stays on one line, so that it can be copied."""
    return print_lines(_say(text, whole=text.startswith("$ ") and "\n" not in text) for text in paragraphs)


def _say(text: str, style: str = "", *, whole: bool = False) -> Text:
    """Text without control characters of the terminal; `whole` if it has its own lines."""
    return Text(make_printable(text, keep="\n"), style, no_wrap=whole)


def _show_section(section: Section, top: int, all_rows: str) -> Iterator[Text]:
    """Tables, then paragraphs; the title only where there is no table, which has a caption."""
    below = [*map(_write_paragraph, section.paragraphs)]
    below += [_say(break_command(command), whole=True) for command in section.commands]
    if below and not section.tables:
        yield _say(section.title, "bold")
    for table in section.tables:
        yield from show_table(table, top=top, all_rows=all_rows)
    yield from below
    if below:
        yield Text("")


def _write_paragraph(text: str) -> Text:
    """Lines of a list are indented."""
    if not text.startswith(ITEM):
        return _say(text)
    lines = _wrap(" ".join(text.removeprefix(ITEM).split()), WIDTH - len(ITEM))
    return _say(ITEM + f"\n{' ' * len(ITEM)}".join(lines), whole=True)


def show_table(
    table: Table, *, top: int = 0, all_rows: str = ALL_ROWS, all_columns: str = ALL_COLUMNS
) -> Iterator[Text]:
    """A table with its caption above: text is cut, numbers never.

    Columns that do not fit go below, with the keys again; without keys the last ones are left out.
    """
    noun = table.noun or table.about
    cut = top if top and noun and len(table.frame) > top else 0
    shown = take_rows(table, cut) if cut else table
    if shown.group or shown.below:
        shown = take_columns(shown, [name for name in shown.columns if name not in {shown.group, shown.below}])
    parts = list(split_columns(shown)) if shown.keys else [fit_columns(shown)]
    for number, part in enumerate(parts):
        starred = any(any(part.mark.get(name, ())) for name in part.columns)
        more = f"{' (more columns)' if number else ''}{f'; {BEST} is best' if starred else ''}"
        yield _say(f"{write_caption(part)}{more}", "italic")
        yield Text("")
        yield from _lay_lines(part)
        yield Text("")
    left = 0 if shown.keys else len(shown.columns) - len(parts[0].columns)
    if cut:
        yield Text(f"… {counted(len(table.frame) - cut, f'more {noun}')}; {all_rows}.")
    if left:
        yield Text(f"… {counted(left, 'more column')}; {all_columns}.")
    if cut or left:
        yield Text("")


def fit_columns(table: Table) -> Table:
    """A table without the last columns that would leave no room for names."""
    room, kept = WIDTH, []
    for name in table.columns:
        width = max(map(cell_len, _write_texts(table, name)))
        room -= GAP + (width if stands_right(table, name) else min(width, NAME_WIDTH))
        if room < 0:
            break
        kept.append(name)
    return take_columns(table, kept)


def fits(table: Table) -> bool:
    """Whether all columns have room side by side."""
    return len(fit_columns(table).columns) == len(table.columns)


def split_columns(table: Table) -> Iterator[Table]:
    """As many columns side by side as fit, the others below; the keys with all of them."""
    names = list(table.columns)
    keys, waiting = names[: table.keys], names[table.keys :]
    while waiting:
        count = max(len(fit_columns(take_columns(table, [*keys, *waiting])).columns) - len(keys), 1)
        yield take_columns(table, [*keys, *waiting[:count]])
        waiting = waiting[count:]


def _write_texts(table: Table, name: str) -> list[str]:
    """The header of a column and its cells, printable and on one line; the best have a star."""
    longest = None if name in table.wrap else WIDTH
    texts = [shorten(text, longest or len(text)) for text in write_column(table, name, plain=True)]
    if any(table.mark.get(name, ())):
        starred = zip(texts, list_marks(table, name), strict=True)
        texts = [f"{text}{BEST if best else ' '}" for text, best in starred]
    return [shorten(write_header(table, name, plain=True), HEADER_WIDTH), *texts]


def _lay_lines(table: Table) -> Iterator[Text]:
    """Header, rule and rows, with a heading above each group."""
    names = list(table.columns)
    list_marks(table, names[0])  # or marks of unknown columns would pass
    columns = [_write_texts(table, name) for name in names]
    right = [stands_right(table, name) for name in names]
    widths = _find_widths(columns, right)
    groups = table.frame[table.group].to_list() if table.group else []
    for number, row in enumerate(zip(*columns, strict=True)):
        if groups and number and (number == 1 or groups[number - 1] != groups[number - 2]):
            yield Text(f" {shorten(str(groups[number - 1]), WIDTH - 1)}", "bold")
        cells = [
            _wrap(text, width) if name in table.wrap else [_cut(text, width)]
            for name, text, width in zip(names, row, widths, strict=True)
        ]
        bold = [number > 0 and name in table.mark and bool(table.mark[name][number - 1]) for name in names]
        for k in range(max(map(len, cells))):
            line = Text(" ", no_wrap=True)
            for one, cell in enumerate(cells):
                text = cell[k] if k < len(cell) else ""
                space = " " * (widths[one] - cell_len(text))
                line.append(" " * GAP if one else "")
                line.append(space + text if right[one] else text + space, "bold" if bold[one] else None)
            yield line
        if number and table.below and table.frame[table.below][number - 1]:
            left = sum(widths[:-1]) + GAP * (len(widths) - 1) + 1
            advice = make_printable(str(table.frame[table.below][number - 1]))
            for text in _wrap(f"-> {advice}", WIDTH - left):
                yield Text(" " * left + text, no_wrap=True)
        if not number:
            yield Text(f" {'─' * (sum(widths) + GAP * (len(names) - 1))}", no_wrap=True)


def _find_widths(columns: Sequence[Sequence[str]], right: Sequence[bool]) -> list[int]:
    """The widths of columns: what they need if there is room; the widest text is cut first."""
    widths = [min(max(map(cell_len, column)), WIDTH) for column in columns]
    texts = [k for k, number in enumerate(right) if not number]
    while texts and sum(widths) + GAP * len(widths) > WIDTH and max(widths[k] for k in texts) > 1:
        widths[max(texts, key=lambda k: widths[k])] -= 1
    return widths


def _cut(text: str, width: int) -> str:
    cell = Text(text)
    cell.truncate(width, overflow="ellipsis")
    return cell.plain


def _wrap(text: str, width: int) -> list[str]:
    lines = Text(text).wrap(Console(width=width), width)
    return [line.plain.rstrip() for line in lines] or [""]


def break_command(command: str) -> str:
    """A command over several lines, none of them broken inside a word, so that it can be copied."""
    lines, room = ["  karatage"], WIDTH - 2
    for part in _pair(shlex.split(command)[1:]):
        text = shlex.join(part)
        if len(lines[-1]) + 1 + len(text) > room:
            lines.append(f"      {text}")
        else:
            lines[-1] += f" {text}"
    return " \\\n".join(lines)


def _pair(words: list[str]) -> Iterator[list[str]]:
    """Words, each option together with its value."""
    left = iter(words)
    for word in left:
        yield [word, next(left)] if word.startswith("-") and word != "-" else [word]
