import pytest


@pytest.fixture
def basket():
    return [(20, 2)]
