"""The files in `deploy/`: what each says to its program, and that it agrees with the package. Nothing here needs a container engine."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import threading
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, TypeAlias

import click
import pytest
import yaml
from commands import environment

from groundkit.cli import gk

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
UNITS = sorted(path.name for path in DEPLOY.glob("*.service"))
INSTALLED = "/opt/groundkit/bin/gk"
#: Instructions of a Dockerfile, each with its argument.
Stage: TypeAlias = list[tuple[str, str]]
#: The name of a variable that holds what nobody may see.
SECRET = re.compile(r"token|secret|passw|credential|(^|_)key($|_)", re.IGNORECASE)


# -- the Dockerfile


def instructions(text: str) -> list[tuple[str, str]]:
    """Each instruction of a Dockerfile with its argument; continued lines are one, comments are none."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [
        (name.upper(), rest.strip()) for name, _, rest in (line.partition(" ") for line in joined.splitlines() if line)
    ]


def stages(text: str) -> list[Stage]:
    found: list[Stage] = []
    for name, rest in instructions(text):
        if name == "FROM":
            found.append([])
        if found:
            found[-1].append((name, rest))
    return found


def of_kind(stage: Stage, kind: str) -> list[str]:
    return [rest for name, rest in stage if name == kind]


def is_exec_form(argument: str) -> bool:
    try:
        read = json.loads(argument.rpartition("CMD ")[2] if "CMD " in argument else argument)
    except ValueError:
        return False
    return isinstance(read, list) and all(isinstance(each, str) for each in read)


def pinned(image: str) -> bool:
    """A plain name of no registry's, and a tag that begins with a version."""
    return re.fullmatch(r"[a-z][a-z0-9-]*:[0-9]+\.[0-9]+[a-z0-9.-]*", image) is not None


def complaints(text: str) -> set[str]:
    """What a linter would say, by the rule."""
    every = stages(text)
    return {rule for rule, broken in RULES.items() if broken(every)}


def _images(every: list[Stage]) -> list[str]:
    return [image.split()[0] for stage in every for image in of_kind(stage, "FROM")]


def _anywhere(every: list[Stage], *kinds: str) -> list[str]:
    return [rest for stage in every for name, rest in stage if name in kinds]


def _user_is_root(every: list[Stage]) -> bool:
    users = of_kind(every[-1], "USER")
    return not users or re.fullmatch(r"[1-9][0-9]*(:[1-9][0-9]*)?", users[-1]) is None


def _makes_files_as_user(every: list[Stage]) -> bool:
    names = [name for name, _ in every[-1]]
    return "USER" in names and bool({"RUN", "COPY"} & set(names[names.index("USER") :]))


def _names_a_secret(every: list[Stage]) -> bool:
    set_here = [each for rest in _anywhere(every, "ENV", "ARG", "LABEL") for each in shlex.split(rest)]
    return any(SECRET.search(each.partition("=")[0]) for each in set_here)


def _keeps_cache(stage: Stage) -> bool:
    runs_pip = any("pip " in rest for rest in of_kind(stage, "RUN"))
    return runs_pip and "PIP_NO_CACHE_DIR=1" not in " ".join(of_kind(stage, "ENV"))


#: Each rule, and whether the stages break it.
RULES: dict[str, Callable[[list[Stage]], bool]] = {
    "base is not pinned": lambda every: not all(map(pinned, _images(every))),
    "bases differ": lambda every: len(set(_images(every))) > 1,
    "user is root, or no number": _user_is_root,
    "files are made as the user who runs it": _makes_files_as_user,
    "ADD": lambda every: bool(_anywhere(every, "ADD")),
    "shell form": lambda every: not all(map(is_exec_form, _anywhere(every, "ENTRYPOINT", "CMD", "HEALTHCHECK"))),
    "secret in the image": _names_a_secret,
    "WORKDIR is relative": lambda every: not all(each.startswith("/") for each in _anywhere(every, "WORKDIR")),
    "not said once": lambda every: any(len(of_kind(every[-1], kind)) != 1 for kind in ONCE),
    "copied from elsewhere": lambda every: not all(each.startswith("--from=") for each in of_kind(every[-1], "COPY")),
    "tools in the last stage": lambda every: any(TOOLS.search(each) for each in of_kind(every[-1], "RUN")),
    "cache of pip": lambda every: any(map(_keeps_cache, every)),
}
ONCE = ("ENTRYPOINT", "CMD", "HEALTHCHECK", "STOPSIGNAL", "USER")
TOOLS = re.compile(r"\b(gcc|g\+\+|build-essential|apt-get|pip)\b")


DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
#: A change to the Dockerfile and what has to be said about it.
FAULTS = {
    "base is not pinned": ("FROM python:3.13-slim-trixie AS", "FROM python:latest AS"),
    "bases differ": ("FROM python:3.13-slim-trixie AS", "FROM python:3.12-slim-trixie AS"),
    "user is root, or no number": ("USER 10001:10001", "USER root"),
    "files are made as the user who runs it": ("EXPOSE", "RUN touch /index/x\nEXPOSE"),
    "ADD": ("COPY core/ core/", "ADD core/ core/"),
    "shell form": ('ENTRYPOINT ["gk"]', "ENTRYPOINT gk"),
    "secret in the image": ("ARG EXTRAS=", "ARG GK_SERVE_TOKEN=x EXTRAS="),
    "WORKDIR is relative": ("WORKDIR /documents", "WORKDIR documents"),
    "not said once": ("STOPSIGNAL SIGTERM\n", ""),
    "copied from elsewhere": ("COPY --from=build", "COPY"),
    "tools in the last stage": ("RUN install", "RUN apt-get install gcc && install"),
    "cache of pip": ("PIP_NO_CACHE_DIR=1 ", ""),
}


def test_a_linter_has_nothing_to_say_about_the_dockerfile() -> None:
    assert complaints(DOCKERFILE) == set()


def test_every_rule_has_a_fault() -> None:
    assert set(FAULTS) == set(RULES)


@pytest.mark.parametrize("fault", FAULTS)
def test_the_linter_notices_each_fault(fault: str) -> None:
    before, after = FAULTS[fault]
    assert DOCKERFILE.count(before) == 1
    assert fault in complaints(DOCKERFILE.replace(before, after))


@pytest.mark.parametrize(
    "image", ["python", "python:latest", "python:slim", "example.org/python:3.13", "host:5000/python:3.13"]
)
def test_an_image_without_a_version_or_with_a_host_is_not_pinned(image: str) -> None:
    assert not pinned(image)


def test_the_build_has_all_that_the_wheel_is_made_of_and_copies_it_before_it_is_used() -> None:
    build = stages(DOCKERFILE)[0]
    copied = {each.rstrip("/") for rest in of_kind(build, "COPY") for each in rest.split()[:-1]}
    used = {PROJECT["project"]["readme"], *PROJECT["project"]["license-files"], "pyproject.toml", "requirements.lock"}
    assert copied == used | set(PROJECT["tool"]["setuptools"]["package-dir"].values())
    names = [name for name, _ in build]
    assert max(i for i, name in enumerate(names) if name == "COPY") < names.index("RUN")
    assert all((ROOT / each).exists() for each in copied)

    allowed = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    patterns = [line for line in allowed if line and not line.startswith("#")]
    assert patterns[0] == "*"
    assert {each[1:] for each in patterns if each.startswith("!")} == copied


def test_the_image_is_of_this_version_with_extras_and_a_python_that_there_are() -> None:
    extras = re.search(r"^ARG EXTRAS=(\S+)$", DOCKERFILE, re.MULTILINE)
    assert extras
    assert (
        {"serve", "pdf", "html", "web"} <= set(extras[1].split(",")) <= set(PROJECT["project"]["optional-dependencies"])
    )
    version = PROJECT["project"]["version"]
    assert f'image.version="{version}"' in DOCKERFILE
    assert f'image.licenses="{PROJECT["project"]["license"]}"' in DOCKERFILE
    python = re.search(r"^FROM python:(3\.\d+)-", DOCKERFILE, re.MULTILINE)
    assert python
    assert f"Programming Language :: Python :: {python[1]}" in PROJECT["project"]["classifiers"]
    assert all(each["image"] == f"groundkit:{version}" for each in compose()["services"].values())


class _Status(BaseHTTPRequestHandler):
    asked: list[tuple[str, str | None]]
    status: int

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers["Host"]))
        self.send_response(self.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def answering(code: int) -> Iterator[tuple[int, list[tuple[str, str | None]]]]:
    seen: list[tuple[str, str | None]] = []
    handler = type("_Answering", (_Status,), {"status": code, "asked": seen})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port, seen
        finally:
            server.shutdown()
            thread.join()


def healthcheck() -> list[str]:
    (argument,) = of_kind(stages(DOCKERFILE)[-1], "HEALTHCHECK")
    read: list[str] = json.loads(argument.partition("CMD ")[2])
    return read


def asked_health(port: int) -> int:
    program, *rest = healthcheck()
    assert program == "python"
    command = [sys.executable, *(each.replace("8765", str(port)) for each in rest)]
    # A proxy for everything in the environment is not asked about the container itself.
    env = environment(http_proxy="http://127.0.0.1:9", HTTP_PROXY="http://127.0.0.1:9")
    return subprocess.run(command, env=env, capture_output=True, timeout=30, check=False).returncode


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1), (401, 1), (302, 1)])
def test_the_health_check_succeeds_exactly_with_status_200(status: int, code: int) -> None:
    with answering(status) as (port, seen):
        assert asked_health(port) == code
    assert seen == [("/healthz", f"127.0.0.1:{port}")]


def test_the_health_check_fails_where_nobody_listens() -> None:
    with answering(200) as (port, _):
        pass
    assert asked_health(port) == 1


# -- compose


def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    return read


@pytest.mark.parametrize("name", ["serve", "ingest"])
def test_a_service_is_confined(name: str) -> None:
    service = compose()["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["user"] == of_kind(stages(DOCKERFILE)[-1], "USER")[0]
    assert not {"privileged", "cap_add", "devices", "network_mode", "pid", "ipc", "environment"} & set(service)
    assert re.fullmatch(r"\d+g", service["mem_limit"])
    assert service["pids_limit"] > 0
    # Extraction and SQLite need it.
    (temporary,) = service["tmpfs"]
    assert temporary.startswith("/tmp:")
    assert {"noexec", "nosuid", "nodev", "mode=1777"} <= set(temporary.partition(":")[2].split(","))


@pytest.mark.parametrize("name", ["serve", "ingest"])
def test_the_index_can_be_written_and_the_documents_cannot(name: str) -> None:
    mounts = {each["target"]: each for each in compose()["services"][name]["volumes"]}
    assert set(mounts) == {"/index", "/documents"}
    assert mounts["/index"]["type"] == "volume"
    assert mounts["/index"]["source"] in compose()["volumes"]
    assert not mounts["/index"].get("read_only")
    assert mounts["/documents"]["type"] == "bind"
    assert mounts["/documents"]["read_only"] is True
    image = of_kind(stages(DOCKERFILE)[-1], "ENV") + of_kind(stages(DOCKERFILE)[-1], "RUN")
    assert "GK_INDEX_DIR=/index" in " ".join(image)
    assert re.search(r"--owner=10001 --group=10001 --mode=0700 /index\b", " ".join(image))


def test_only_this_machine_reaches_the_port_and_only_with_the_token_of_a_file() -> None:
    serve = compose()["services"]["serve"]
    assert serve["ports"] == ["127.0.0.1:8765:8765"]
    assert of_kind(stages(DOCKERFILE)[-1], "EXPOSE") == ["8765"]
    (secret,) = serve["secrets"]
    assert "file" in compose()["secrets"][secret]
    command = serve["command"]
    assert command[command.index("--token-file") + 1] == f"/run/secrets/{secret}"
    assert "secrets" not in compose()["services"]["ingest"]
    assert secret in (DEPLOY / ".gitignore").read_text("utf-8").splitlines()


def test_compose_asks_for_health_as_the_image_does() -> None:
    services = compose()["services"]
    assert services["serve"]["healthcheck"]["test"] == ["CMD", *healthcheck()]
    assert services["ingest"]["healthcheck"] == {"disable": True}


def test_the_ingest_runs_once_and_only_when_it_is_named() -> None:
    ingest = compose()["services"]["ingest"]
    assert ingest["profiles"] == ["ingest"]
    assert ingest["restart"] == "no"
    assert "ports" not in ingest


def test_compose_builds_with_the_dockerfile_of_this_folder() -> None:
    build = compose()["services"]["serve"]["build"]
    context = (DEPLOY / build["context"]).resolve()
    assert context == ROOT
    assert (context / build["dockerfile"]).samefile(DEPLOY / "Dockerfile")
    default = re.search(r"^ARG EXTRAS=(\S+)$", DOCKERFILE, re.MULTILINE)
    assert default
    assert build["args"]["EXTRAS"] == f"${{GK_EXTRAS:-{default[1]}}}"


# -- systemd

KNOWN = {
    "Unit": "Description Documentation After Wants Requires StartLimitIntervalSec StartLimitBurst",
    "Install": "WantedBy",
    "Timer": "OnCalendar RandomizedDelaySec Persistent",
    "Service": """Type User Group LoadCredential ExecStart Restart RestartSec RestartPreventExitStatus SuccessExitStatus
        KillSignal KillMode TimeoutStopSec TimeoutStartSec Nice IOSchedulingClass StateDirectory StateDirectoryMode UMask
        ReadWritePaths ReadOnlyPaths ProtectSystem ProtectHome ProtectProc ProtectClock ProtectControlGroups ProtectHostname
        ProtectKernelLogs ProtectKernelModules ProtectKernelTunables PrivateTmp PrivateDevices PrivateUsers PrivateNetwork
        NoNewPrivileges CapabilityBoundingSet AmbientCapabilities LockPersonality MemoryDenyWriteExecute RemoveIPC
        RestrictNamespaces RestrictRealtime RestrictSUIDSGID RestrictAddressFamilies IPAddressDeny IPAddressAllow
        SystemCallArchitectures SystemCallFilter SystemCallErrorNumber MemoryMax TasksMax LimitCORE""",
}
#: What both units promise.
CONFINED = {
    "User": ["groundkit"],
    "NoNewPrivileges": ["yes"],
    "ProtectSystem": ["strict"],
    "ProtectHome": ["yes"],
    "PrivateTmp": ["yes"],
    "PrivateDevices": ["yes"],
    "CapabilityBoundingSet": [""],
    "AmbientCapabilities": [""],
    "MemoryDenyWriteExecute": ["yes"],
    "RestrictNamespaces": ["yes"],
    "RestrictSUIDSGID": ["yes"],
    "SystemCallFilter": ["@system-service", "~@privileged"],
    "StateDirectory": ["groundkit"],
    "UMask": ["0077"],
    "MemoryMax": ["4G"],
}


def unit(name: str) -> dict[str, dict[str, list[str]]]:
    read: dict[str, dict[str, list[str]]] = {}
    section: dict[str, list[str]] = {}
    for line in (DEPLOY / name).read_text("utf-8").splitlines():
        if line.startswith("["):
            section = read.setdefault(line.strip("[]"), {})
        elif line and not line.startswith(("#", ";")):
            key, equals, value = line.partition("=")
            assert equals, line
            section.setdefault(key, []).append(value)
    return read


def test_there_are_a_server_and_an_ingest_with_its_timer() -> None:
    assert UNITS == ["groundkit-ingest.service", "groundkit.service"]
    assert unit("groundkit-ingest.timer")["Install"] == {"WantedBy": ["timers.target"]}
    assert "Install" not in unit("groundkit-ingest.service")


@pytest.mark.parametrize("name", [*UNITS, "groundkit-ingest.timer"])
def test_a_unit_has_only_sections_and_keys_that_systemd_knows(name: str) -> None:
    for section, keys in unit(name).items():
        assert set(keys) <= set(KNOWN[section].split())


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_is_confined(name: str) -> None:
    service = unit(name)["Service"]
    assert {key: service.get(key) for key in CONFINED} == CONFINED
    # What extraction needs stays: limits by setrlimit, pipes, files in /tmp.
    assert not any("@resources" in each or "@process" in each for each in service["SystemCallFilter"])
    assert "TMPDIR" not in (DEPLOY / name).read_text("utf-8")


def test_the_server_of_the_unit_listens_on_loopback_with_the_token_of_a_credential() -> None:
    service = unit("groundkit.service")["Service"]
    (start,), (credential,) = service["ExecStart"], service["LoadCredential"]
    words = shlex.split(start)
    assert words[words.index("--host") + 1] == "127.0.0.1"
    assert words[words.index("--token-file") + 1] == f"${{CREDENTIALS_DIRECTORY}}/{credential.partition(':')[0]}"
    assert (service["IPAddressDeny"], service["IPAddressAllow"]) == (["any"], ["localhost"])
    assert words[words.index("--index-dir") + 1] == f"/var/lib/{service['StateDirectory'][0]}"


def test_systemd_itself_finds_nothing_wrong_with_the_units(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("no systemd-analyze on this machine")
    for path in DEPLOY.glob("groundkit*"):
        text = path.read_text("utf-8").replace(f"ExecStart={INSTALLED}", f"ExecStart={shutil.which('true')}")
        (tmp_path / path.name).write_text(text, "utf-8")
    units = sorted(map(str, tmp_path.iterdir()))
    assert told([analyze, "verify", "--man=no", *units]) == (0, "")
    # Another unknown key is said, or the check above means nothing.
    (tmp_path / "groundkit.service").write_text("[Service]\nExecStart=/bin/true\nProtectSystems=strict\n", "utf-8")
    assert "ProtectSystems" in told([analyze, "verify", "--man=no", str(tmp_path / "groundkit.service")])[1]


def told(command: list[str]) -> tuple[int, str]:
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


# -- what all of them call


def called() -> dict[str, list[str]]:
    """The arguments of `gk`, by where they stand."""
    found = {f"compose.yaml, {name}": list(each["command"]) for name, each in compose()["services"].items()}
    last = stages(DOCKERFILE)[-1]
    assert json.loads(of_kind(last, "ENTRYPOINT")[0]) == ["gk"]
    found["Dockerfile"] = json.loads(of_kind(last, "CMD")[0])
    for name in UNITS:
        (start,) = unit(name)["Service"]["ExecStart"]
        program, *found[name] = shlex.split(start)
        assert program == INSTALLED
    return found


CALLED = called()


@pytest.mark.parametrize("where", CALLED)
def test_every_option_that_is_given_is_one_of_the_command(where: str) -> None:
    name, *arguments = CALLED[where]
    if name == "serve":
        from groundkit.cli.serve import serve_command as command
    else:
        found = gk.get_command(click.Context(gk), name)
        assert found is not None
        command = found
    # Parsing alone: it raises for an unknown option, a missing value and a port that is none.
    context = command.make_context(name, arguments)
    assert context.params["index_dir" if name == "serve" else "base_dir"] or where.startswith(("compose", "Docker"))


@pytest.mark.parametrize("where", [each for each in CALLED if CALLED[each][0] == "serve"])
def test_a_server_that_others_reach_says_so_and_no_other_does(where: str) -> None:
    arguments = CALLED[where]
    host = arguments[arguments.index("--host") + 1]
    assert ("--allow-remote" in arguments) == (host != "127.0.0.1")
    assert not any(SECRET.search(each) for each in arguments if not each.startswith("--") and "/" not in each)


def test_server_and_ingest_mean_the_same_index_and_the_ingest_is_told_its_base() -> None:
    def after(where: str, option: str) -> str:
        return CALLED[where][CALLED[where].index(option) + 1]

    assert after("groundkit.service", "--index-dir") == after("groundkit-ingest.service", "--index-dir")
    for where in ("groundkit-ingest.service", "compose.yaml, ingest"):
        assert after(where, "--base-dir") == CALLED[where][-1]


def test_no_file_names_a_registry_or_holds_a_secret() -> None:
    for path in DEPLOY.iterdir():
        text = path.read_text("utf-8")
        assert not re.search(r"https?://(?!127\.0\.0\.1)|\b(docker\.io|ghcr\.io|quay\.io|pypi)\b", text), path.name
        assert not re.search(r"[A-Za-z0-9_-]{32,}", text), path.name
