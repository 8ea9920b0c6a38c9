"""The day's part of the samples: ten days in a row ask all of them."""

import pytest

from tests import day


@pytest.mark.parametrize("count", [0, 1, 2, 9, 10, 11, 25])
def test_ten_days_ask_everything(count, monkeypatch):
    monkeypatch.setattr(day, "every", False)
    asked = []
    for today in range(20_000, 20_010):
        monkeypatch.setattr(day, "DAY", today)
        asked.append(day.part("sin", range(count)))
    assert set().union(*asked) == set(range(count))
    assert {len(one) for one in asked} <= ({0} if not count else {1} if count <= 10 else {count // 10, count // 10 + 1})


def test_operators_take_different_parts(monkeypatch):
    monkeypatch.setattr(day, "every", False)
    assert len({day.part(name, range(10))[0] for name in ("sin", "cos", "tan", "exp", "log")}) > 1


def test_all_are_asked_where_it_is_said(monkeypatch):
    monkeypatch.setattr(day, "every", True)
    assert day.part("sin", range(30)) == list(range(30))


def test_each_name_has_its_day(monkeypatch):
    monkeypatch.setattr(day, "every", False)
    days = {name: [] for name in ("sin", "cos", "matmul")}
    for today in range(20_000, 20_010):
        monkeypatch.setattr(day, "DAY", today)
        for name, found in days.items():
            found += [today] * day.is_today(name)
    assert all(len(found) == 1 for found in days.values())
    assert day.least(1000) == 50
    monkeypatch.setattr(day, "every", True)
    assert day.is_today("sin") and day.least(1000) == 1000
