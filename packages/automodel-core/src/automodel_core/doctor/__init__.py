"""``automodel doctor``: what of this machine and this installation is fit for a run, and how to repair the rest.

A plugin adds checks through ``doctor_checks()``: functions without arguments that return a :class:`Finding`, or
several.
"""

from automodel_core.doctor.finding import Finding, Status

__all__ = ["Finding", "Status"]
