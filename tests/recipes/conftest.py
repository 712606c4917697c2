"""A cache of the test's own."""

import pytest

from automodel_core.cache import CACHE_VARIABLE


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path_factory.mktemp("cache")))
