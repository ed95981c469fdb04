"""`gk completion`."""

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion_command(ctx: click.Context, shell: str) -> int:
    """Print the completion script for a shell.

    \b
    bash: gk completion bash > ~/.local/share/bash-completion/completions/gk
    zsh:  gk completion zsh > "${fpath[1]}/_gk"
    fish: gk completion fish > ~/.config/fish/completions/gk.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "gk", "_GK_COMPLETE").source())
    return 0
