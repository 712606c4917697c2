"""Which column holds what: as a config maps them, or by the names that data go by."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from automodel_core.data.records import Row
from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.errors import InputError


def columns_for(
    row: Row, mapping: Mapping[str, str | None] | None, known: Mapping[str, Sequence[str]], optional: Collection[str]
) -> dict[str, str]:
    """Return the column of each role: the mapped one, else the first known name that ``row`` has.

    A role in ``optional`` may be absent, and is not read when it is mapped to null. Raises :class:`InputError`: AM311
    for a role that there is not, AM309 for a role without a column.
    """
    given = {} if mapping is None else dict(mapping)
    for role in given:
        if role not in known:
            helps = (*did_you_mean(role, list(known)), "it maps " + ", ".join(f"`{r}`" for r in known) + " to columns")
            raise InputError(
                Diagnostic("AM311", f"the mapping of columns has `{role}`, which is nothing known", helps=helps)
            )
    found: dict[str, str] = {}
    for role, names in known.items():
        column = given[role] if role in given else next((name for name in names if name in row.record), None)
        if column is not None:
            found[role] = column
        elif role not in optional:
            columns = ", ".join(f"`{name}`" for name in row.record)
            helps = (f"say which it is in `column_mapping.{role}`", f"the row has the columns {columns}")
            raise InputError(Diagnostic("AM309", f"`{row.place}`: no column is known to hold the {role}", helps=helps))
    return found
