"""``python -m kubectl_kres``."""

from __future__ import annotations

import sys

from kubectl_kres.cli.start import entry

sys.exit(entry())
