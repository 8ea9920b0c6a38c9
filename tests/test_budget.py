"""The budget: no room gets larger without saying so."""

from tests.budget import BOUNDS, lines


def test_no_room_is_above_its_bound():
    found = lines()
    assert found.keys() == BOUNDS.keys(), "a room that is new or gone: change BOUNDS in tests/budget.py"
    above = {room: f"{count} lines, {BOUNDS[room]} allowed" for room, count in found.items() if count > BOUNDS[room]}
    assert above == {}, "raise these bounds in tests/budget.py, and say in the commit what the lines are for"


def test_bounds_follow_rooms_that_get_smaller():
    loose = {room: f"{found} lines, {BOUNDS[room]} allowed" for room, found in lines().items() if found < 0.97 * BOUNDS[room] - 30}
    assert loose == {}, "lower these bounds in tests/budget.py"
