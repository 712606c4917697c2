"""The installed plugins: which work, and what is wrong with the others."""

from __future__ import annotations

from collections.abc import Iterator

from automodel_core.diagnostics import Diagnostic
from automodel_core.doctor.finding import Finding
from automodel_core.plugins import Catalog


def plugin_findings(catalog: Catalog) -> Iterator[Finding]:
    """Tell the plugins that work and those that are disabled; every problem of the others is a finding."""
    catalog.ask_everything()
    working = [f"{plugin.name} {plugin.version}" for plugin in catalog.plugins if plugin.status == "ok"]
    disabled = [plugin.name for plugin in catalog.plugins if plugin.status == "disabled"]
    message = ", ".join(working) if working else "none works"
    if disabled:
        message += f"; disabled: {', '.join(disabled)}"
    if working:
        yield Finding("plugins", "ok", message)
    else:
        yield Finding("plugins", "warn", message, "install a domain, for example `pip install automodel-llm`")
    yield from map(problem_finding, catalog.problems())


def problem_finding(problem: Diagnostic) -> Finding:
    """A broken plugin, or a name that two claim, fails what somebody installed; the rest is a warning."""
    status = "fail" if problem.code in ("AM601", "AM602") else "warn"
    fix = "; ".join(problem.helps) or f"see `automodel explain {problem.code}`"
    return Finding("plugins", status, f"{problem.message} [{problem.code}]", fix)  # type: ignore[arg-type]
