"""The operator's command after a restore: what it refuses."""

import pytest

from models import recover


@pytest.mark.parametrize("since", ["yesterday", "2026-11-28", "2026-11-28T09:00:00", "2999-01-01T00:00:00Z"])
def test_a_time_that_cannot_be_the_backups_is_refused_by_name(
    since: str, database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("SECRET_KEY", "a secret of the tests, long enough for it")
    monkeypatch.setattr("sys.argv", ["recover", "--since", since])
    with pytest.raises(SystemExit) as refused:
        recover.main()
    assert refused.value.code == 2
    assert "argument --since:" in capsys.readouterr().err
