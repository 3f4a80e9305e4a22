"""Fills the templates of rules with the values of a log."""

from __future__ import annotations

from collections.abc import Mapping

from vllm_triage.catalog.templates import parts

Value = str | int | float


class MissingFieldError(KeyError):
    """A template needs a value that is not there, or that has not the form it asks for."""


def fill(template: str, values: Mapping[str, Value]) -> str:
    """The template with its names replaced.

    Raises:
        MissingFieldError: A value is missing, or is a text where a number is to be formatted.
        TemplateError: The template holds more than names.
    """
    text = []
    for literal, name, form in parts(template):
        text.append(literal)
        if not name:
            continue
        if name not in values:
            raise MissingFieldError(name)
        try:
            text.append(format(values[name], form))
        except ValueError as error:
            raise MissingFieldError(name) from error
    return "".join(text)
