"""``python -m automodel_core`` is the ``automodel`` command."""

import sys

from automodel_core.cli import main

sys.exit(main())
