import os

import pytest

from kronbench.files import replacing, write_text


def test_failure_keeps_what_stood_there_and_leaves_nothing_else(tmp_path):
    target = tmp_path / "table.csv"
    write_text(target, "whole")
    with pytest.raises(RuntimeError), replacing(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert target.read_text() == "whole"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_success_replaces_and_is_readable_by_others(tmp_path):
    target = tmp_path / "new" / "table.csv"
    with replacing(target) as temporary:
        assert temporary.suffix == ".csv"
        temporary.write_text("whole")
    assert target.read_text() == "whole"
    assert os.listdir(target.parent) == ["table.csv"]
    umask = os.umask(0)
    os.umask(umask)
    assert target.stat().st_mode & 0o777 == 0o666 & ~umask
