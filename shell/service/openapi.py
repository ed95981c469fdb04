"""The OpenAPI document, made of the same models that requests are checked by."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import Any

from pydantic.json_schema import models_json_schema

from groundkit.service.operations import OPERATIONS, Operation

_REF = "#/components/schemas/{model}"
_PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "Problem details (RFC 9457).",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "hint": {"type": "string"},
    },
    "required": ["type", "title", "status", "detail"],
}
_FAILURES = {
    "400": "A field is wrong; the detail names it.",
    "401": "A token is needed.",
    "403": "The request comes from another origin.",
    "413": "The request is too large.",
    "415": "The body is not application/json.",
    "421": "The Host header is not one of this server.",
    "503": "The server is busy, or the machine said no.",
    "504": "There was no answer in time.",
}


@cache
def document() -> dict[str, Any]:
    """OpenAPI 3.1."""
    models = [(each, "validation") for op in OPERATIONS.values() for each in (op.request, op.answer)]
    _, schemas = models_json_schema(models, ref_template=_REF)  # type: ignore[arg-type]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "groundkit",
            "version": version("groundkit"),
            "description": "Passages that are citations, and whether their sources still have them. Everything here reads.",
        },
        "paths": {f"/v1/{name}": _path(each) for name, each in OPERATIONS.items()},
        "components": {
            "schemas": {**schemas.get("$defs", {}), "Problem": _PROBLEM},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _path(operation: Operation) -> dict[str, Any]:
    common = {"summary": operation.title, "description": operation.description, "responses": _responses(operation)}
    return {
        "get": {"operationId": operation.name, "parameters": _parameters(operation), **common},
        "post": {
            "operationId": f"{operation.name}_post",
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": _ref(operation.request.__name__)}},
            },
            **common,
        },
    }


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    schema = operation.request.model_json_schema()
    return [
        {"name": name, "in": "query", "required": name in schema.get("required", []), "schema": each}
        for name, each in schema["properties"].items()
    ]


def _responses(operation: Operation) -> dict[str, Any]:
    answer = {"application/json": {"schema": _ref(operation.answer.__name__)}}
    problem = {"application/problem+json": {"schema": _ref("Problem")}}
    failures = {status: {"description": said, "content": problem} for status, said in _FAILURES.items()}
    unknown = answer | problem if operation.name == "fetch_chunk" else problem
    return {
        "200": {"description": "The answer.", "content": answer},
        "404": {"description": "Unknown here, and why.", "content": unknown},
        **failures,
    }


def _ref(model: str) -> dict[str, str]:
    return {"$ref": _REF.format(model=model)}
