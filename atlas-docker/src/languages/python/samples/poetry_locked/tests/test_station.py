import pytest
from weather_station import STATION


def test_station():
    assert STATION == 1
