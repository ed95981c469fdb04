"""From whatever ends a command to one line on stderr and an exit code."""

import errno
import io
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

import click

from groundkit.cli.printable import one_line, printable
from groundkit.platforms import platform_refused

#: Not imported from `groundkit.render`: a `--help` must not load the use cases.
WRONG_REQUEST, MACHINE_SAID_NO, OUR_BUG, INTERRUPTED, CLOSED_PIPE = 2, 3, 70, 130, 141
#: Set by the completion scripts to what they want to know.
_COMPLETION = "_GK_COMPLETE"


def run(command: click.Group, arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Carry out a command line; the exit code is the answer."""
    _open_what_is_closed()
    sys.stdout, sys.stderr = _written_whole(sys.stdout), _written_whole(sys.stderr, said=True)
    refused = platform_refused()
    if refused is not None:
        return _say(refused, MACHINE_SAID_NO)
    asked = environment.get(_COMPLETION)
    if asked:
        from click.shell_completion import shell_complete

        return shell_complete(command, {}, "gk", _COMPLETION, asked)
    try:
        return _carried_out(command, arguments)
    except OSError as error:
        if error.errno == errno.EPIPE:
            _let_go_of_stdout()
            return CLOSED_PIPE
        return _say(f"the machine said no: {error.strerror or error}", MACHINE_SAID_NO)


def _open_what_is_closed() -> None:
    """A stream that was closed before the start is none: what would go there goes nowhere, and nothing comes from there."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115 - open as long as the process
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def _written_whole(stream: TextIO, said: bool = False) -> TextIO:
    """The stream as UTF-8. With PYTHONUNBUFFERED there is nothing in it that writes on where the system took only a part."""
    if isinstance(stream, io.TextIOWrapper) and isinstance(stream.buffer, io.RawIOBase):
        stream = io.TextIOWrapper(io.BufferedWriter(stream.detach()), write_through=True)
    stream.reconfigure(  # type: ignore[attr-defined]
        # What is said is said at once; what is written may wait for more, but on a terminal.
        encoding="utf-8", errors="backslashreplace", line_buffering=said or None
    )  # fmt: skip
    return stream


def _carried_out(command: click.Group, arguments: Sequence[str]) -> int:
    try:
        # Not `command.main`, which has answers of its own to an interrupt and to a closed pipe.
        with command.make_context("gk", list(arguments)) as context:
            code = command.invoke(context)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as done:
        sys.stdout.flush()
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return WRONG_REQUEST
    except click.UsageError as error:
        usage = f"{error.ctx.get_usage()}\n" if error.ctx else ""
        click.echo(f"{usage}gk: {printable(error.format_message())}{_way_out(error)}", err=True)
        return WRONG_REQUEST
    except click.ClickException as error:
        return _say(error.format_message(), WRONG_REQUEST)
    except (KeyboardInterrupt, click.Abort):
        if sys.stderr.isatty():
            click.echo(err=True)
        return _say("interrupted; what was committed stays", INTERRUPTED)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - the last seam: whatever it is, it becomes a line and an exit code
        return _failed(error)


def _failed(error: Exception) -> int:
    from groundkit.errors import GroundkitError
    from groundkit.render import exit_code_of

    if isinstance(error, GroundkitError):
        return _say(one_line(str(error)), exit_code_of(error.failure))
    import traceback

    traceback.print_exception(error, file=sys.stderr)
    return _say("this is a bug in groundkit; please report it with the lines above", OUR_BUG)


def _way_out(error: click.UsageError) -> str:
    """Where to read on, and how to say a word that begins like an option."""
    if error.ctx is None:
        return ""
    path = error.ctx.command_path
    if isinstance(error, click.NoSuchOption) and any(
        isinstance(each, click.Argument) for each in error.ctx.command.params
    ):
        return f" (`{path} --help` lists them; behind ` -- ` nothing is taken for an option)"
    return f" (see `{path} --help`)"


def _say(message: str, code: int) -> int:
    click.echo(f"gk: {printable(message)}", err=True)
    return code


def _let_go_of_stdout() -> None:
    """Nobody reads any more: what is still buffered must not raise again at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
