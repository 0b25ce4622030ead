"""Who may operate a job."""

from __future__ import annotations

import http.client
import stat
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from scurry.common import Configuration
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ConfigError, RequestRefusedError
from scurry.rest.client import RemoteProcess
from scurry.rest.page import page_files
from scurry.rest.settings import RestSettings
from support.rest.fake_jobs import TOKEN, FakeJob, plan_of, raw, served

BEARER = f"Bearer {TOKEN}"


def settings(runner: str = "spark", **values: str) -> RestSettings | None:
    keys = {key.replace("__", "-").replace("_", "."): value for key, value in values.items()}
    return RestSettings.of(Configuration.from_dict(keys), runner)


class TestToken:
    def test_the_right_one_opens(self, process: RemoteProcess) -> None:
        assert raw(process, Authorization=BEARER)[0] == 200

    @pytest.mark.parametrize("given", ["Bearer wrong", "Bearer ", "Basic " + TOKEN, TOKEN, "Bearer " + TOKEN[:-1]])
    def test_any_other_does_not(self, given: str, process: RemoteProcess) -> None:
        assert raw(process, Authorization=given)[0] == 401

    @pytest.mark.parametrize("path", ["/jobs", "/openapi.json", "/config", "/nothing"])
    def test_nothing_is_told_without_one(self, path: str, process: RemoteProcess) -> None:
        status, body = raw(process, path)
        assert status == 401
        assert TOKEN not in body

    def test_each_job_has_its_own(self) -> None:
        first, second = settings(), settings()
        assert first is not None and second is not None
        assert first.token != second.token and len(first.token) >= 32


class TestWebPages:
    def test_another_host_name_is_refused_even_with_the_token(self, process: RemoteProcess) -> None:
        assert raw(process, Authorization=BEARER, Host="rebound.example:80")[0] == 403

    @pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]:80", "LOCALHOST:1234"])
    def test_names_of_this_machine_are_fine(self, host: str, process: RemoteProcess) -> None:
        assert raw(process, Authorization=BEARER, Host=host)[0] == 200

    def test_requests_of_other_origins_are_refused(self, process: RemoteProcess) -> None:
        assert raw(process, Authorization=BEARER, Origin="http://elsewhere.example")[0] == 403
        assert raw(process, Authorization=BEARER, Origin="null")[0] == 403

    def test_so_are_those_that_a_browser_marks(self, process: RemoteProcess) -> None:
        assert raw(process, Authorization=BEARER, Sec_Fetch_Site="cross-site")[0] == 403

    def test_no_answer_invites_other_origins(self, process: RemoteProcess) -> None:
        address = urlsplit(process.url)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=120)
        connection.request("OPTIONS", "/jobs", headers={"Authorization": BEARER})
        answer = connection.getresponse()
        assert not [name for name, _ in answer.getheaders() if name.lower().startswith("access-control")]
        connection.close()


class TestBodies:
    def test_large_ones_are_refused(self, job: FakeJob, process: RemoteProcess) -> None:
        with pytest.raises(RequestRefusedError, match="65536 bytes"):
            process.request("POST", f"/jobs/{job.id}/stop", {"targetDirectory": "x" * 70_000})

    def test_those_of_unknown_length_too(self, job: FakeJob, process: RemoteProcess) -> None:
        address = urlsplit(process.url)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=120)
        headers = {"Authorization": BEARER}
        connection.request("POST", f"/jobs/{job.id}/stop", iter([b"{}"]), headers, encode_chunked=True)
        assert connection.getresponse().status == 411
        connection.close()


class TestAddresses:
    def test_jobs_listen_on_loopback(self, process: RemoteProcess) -> None:
        assert urlsplit(process.url).hostname == "127.0.0.1"

    @pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
    def test_any_other_address_needs_a_token(self, address: str) -> None:
        with pytest.raises(ConfigError, match="needs a token.*scurry.rest.token-file"):
            settings(rest_bind__address=address)

    def test_with_a_token_it_is_fine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SCURRY_REST_TOKEN", TOKEN)
        found = settings(rest_bind__address="0.0.0.0", rest_address="driver.example")
        assert found is not None and not found.loopback and found.address == "driver.example"

    def test_a_job_that_must_not_listen_does_not_start(self) -> None:
        conf = Configuration.from_dict({"rest.bind-address": "0.0.0.0", "scurry.rest": "on", "scurry.runner": "local"})
        env = StreamExecutionEnvironment.get_execution_environment(conf)
        ran: list[int] = []
        env.from_collection([1]).map(ran.append).print()
        with pytest.raises(ConfigError, match="needs a token"):
            env.execute()
        assert ran == []

    def test_beyond_loopback_any_host_name_is_fine(self, job: FakeJob, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SCURRY_REST_TOKEN", TOKEN)
        found = settings(rest_bind__address="0.0.0.0", rest_address="127.0.0.1")
        with served(job, found) as process:
            assert raw(process, Authorization=BEARER, Host="driver.example:8081")[0] == 200
            assert raw(process, Host="driver.example:8081")[0] == 401

    def test_the_first_free_port_of_a_range_is_taken(self, job: FakeJob, process: RemoteProcess) -> None:
        taken = urlsplit(process.url).port or 0
        free = taken - 1 if taken == 65535 else taken + 1
        with served(FakeJob(), settings(rest_bind__port=f"{taken},{free}")) as second:
            assert urlsplit(second.url).port == free

    def test_a_port_that_is_taken_is_an_error_before_the_job_starts(self, process: RemoteProcess) -> None:
        port = urlsplit(process.url).port
        conf = Configuration.from_dict({"rest.port": str(port), "scurry.rest": "on", "scurry.runner": "local"})
        env = StreamExecutionEnvironment.get_execution_environment(conf)
        env.from_collection([1]).print()
        with pytest.raises(ConfigError, match=f"port {port}.*rest.port to 0"):
            env.execute()

    @pytest.mark.parametrize(("value", "runner"), [("off", "spark"), ("auto", "local")])
    def test_jobs_that_are_not_to_be_reached_do_not_listen(self, value: str, runner: str) -> None:
        assert settings(runner, scurry_rest=value) is None


class TestConfiguredTokens:
    def test_one_may_be_in_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "token"
        file.write_text(TOKEN + "\n")
        file.chmod(0o600)
        found = settings(scurry_rest_token__file=str(file))
        assert found is not None and (found.token, found.token_file) == (TOKEN, str(file))

    def test_a_file_that_everybody_can_read_is_refused(self, tmp_path: Path) -> None:
        file = tmp_path / "token"
        file.write_text(TOKEN)
        file.chmod(0o644)
        with pytest.raises(ConfigError, match="chmod 600"):
            settings(scurry_rest_token__file=str(file))

    def test_a_missing_file_is_named(self) -> None:
        with pytest.raises(ConfigError, match="/nowhere/token cannot be read"):
            settings(scurry_rest_token__file="/nowhere/token")

    def test_a_short_one_is_refused_without_being_shown(self) -> None:
        with pytest.raises(ConfigError, match="scurry.rest.token cannot be used") as refused:
            settings(scurry_rest_token="hush hush")
        assert "hush" not in str(refused.value)

    def test_it_is_in_no_repr(self) -> None:
        assert TOKEN not in repr(settings(scurry_rest_token=TOKEN))
        assert TOKEN not in repr(RemoteProcess("http://localhost", TOKEN))

    def test_it_is_not_part_of_the_plan_that_tasks_get(self) -> None:
        from scurry.graph.shipping import ship

        plan = plan_of(**{"scurry_rest_token": TOKEN})
        assert TOKEN not in str(plan.settings)
        assert TOKEN.encode() not in ship(plan)

    def test_it_is_not_written_into_the_registry(self, job: FakeJob, own_registry: Path) -> None:
        found = settings(scurry_rest_token=TOKEN)
        with served(job, found):
            (file,) = own_registry.iterdir()
            assert TOKEN not in file.read_text()


def test_the_registry_is_private(process: RemoteProcess, own_registry: Path) -> None:
    (file,) = own_registry.iterdir()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (own_registry, file)] == [0o700, 0o600]


class TestPage:
    """The files of the page hold no data: only they are given to a browser that has no token yet."""

    @pytest.mark.parametrize("path", sorted(page_files()))
    def test_its_files_need_no_token(self, path: str, process: RemoteProcess) -> None:
        status, body = raw(process, path)
        assert status == 200
        assert TOKEN not in body

    @pytest.mark.parametrize("path", [*sorted(page_files()), "/jobs", "/events?path=/jobs", "/page/nothing.js"])
    def test_a_wrong_token_a_foreign_host_and_a_foreign_origin_are_refused(
        self, path: str, process: RemoteProcess
    ) -> None:
        assert raw(process, path, Authorization="Bearer wrong")[0] == 401
        assert raw(process, path, Authorization=BEARER, Host="rebound.example:80")[0] == 403
        assert raw(process, path, Authorization=BEARER, Origin="http://elsewhere.example")[0] == 403
        assert raw(process, path, Host="rebound.example:80")[0] == 403
        assert raw(process, path, Sec_Fetch_Site="cross-site")[0] == 403

    @pytest.mark.parametrize(
        "path", ["/page", "/page/", "/page/../page/main.js", "/page/%2e%2e/__init__.py", "/events"]
    )
    def test_nothing_else_is_told_without_a_token(self, path: str, process: RemoteProcess) -> None:
        assert raw(process, path)[0] == 401

    def test_its_files_are_read_only(self, process: RemoteProcess) -> None:
        assert raw(process, "/", "POST")[0] == 401
        assert raw(process, "/", "POST", Authorization=BEARER)[0] == 404

    def test_a_browser_loads_scripts_of_this_endpoint_only(self, process: RemoteProcess) -> None:
        address = urlsplit(process.url)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=120)
        connection.request("GET", "/")
        policy = connection.getresponse().getheader("content-security-policy") or ""
        connection.close()
        assert "default-src 'none'; script-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy and "unsafe" not in policy
