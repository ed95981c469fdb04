"""Conditions on documents and headings, which decide before anything is ranked."""

from enum import StrEnum

from attrs import frozen


class Field(StrEnum):
    """What `field:value` may name."""

    SOURCE = "source"
    CLASS = "class"
    TYPE = "type"
    HEADING = "heading"
    AFTER = "after"
    BEFORE = "before"


@frozen
class FieldCondition:
    """One `field:value`, or with `negated` `-field:value`."""

    field: Field
    value: str
    negated: bool = False
