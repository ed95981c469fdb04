"""What `gk files` and `gk show` still say of a store that an earlier version left."""

import click

from groundkit.cli.common import print_json, print_json_line, print_table, unsecret
from groundkit.cli.printable import one_line, printable
from groundkit.collection import Collection
from groundkit.core.storage import StorageFailure, StorageProblem
from groundkit.errors import GroundkitError


def is_older(error: GroundkitError) -> bool:
    """Whether this error means that the store can only be listed and read."""
    failure = error.failure
    return isinstance(failure, StorageFailure) and failure.problem is StorageProblem.OLDER


def list_older(found: Collection, error: GroundkitError, form: str) -> int:
    """Its sources; on stderr what can be done about it."""
    old = found.old_sources()
    click.echo(f"gk: {printable(str(error))}", err=True)
    rows = [{"source": each.source, "document_id": each.document_id, "chunks": each.chunks} for each in old.sources]
    match form:
        case "json":
            print_json({"version": old.version, "documents": rows})
        case "jsonl":
            for row in rows:
                print_json_line(row)
        case "paths":
            for each in old.sources:
                click.echo(one_line(each.source))
        case _:
            print_table([(each.source, str(each.chunks)) for each in old.sources], ("source", "chunks"), right=(1,))
    return 0 if rows else 1


def show_older(found: Collection, error: GroundkitError, prefix: str, form: str) -> int:
    """The first chunk whose id begins so. It is no citation: nothing is known of how its text was made."""
    click.echo(f"gk: {printable(str(error))}", err=True)
    for each in found.old_sources().sources:
        for chunk in found.old_chunks(each.source):
            if chunk.id.startswith(prefix):
                span = {"start": chunk.span.start, "end": chunk.span.end}
                if form == "json":
                    print_json({"source": each.source, "chunk_id": chunk.id, **span, "text": chunk.text})
                else:
                    click.echo(f"{one_line(each.source)}  {span['start']}–{span['end']}  {one_line(chunk.id)}\n")
                    click.echo(printable(chunk.text))
                return 0
    click.echo(f"gk: the store knows no chunk {unsecret(prefix)}", err=True)
    return 1
