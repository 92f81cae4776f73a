"""Sections of settings, and the kinds of values in them."""

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    WrapValidator,
    model_validator,
)

from capmap.settings.files import expand_home
from capmap.settings.words import list_choices, show_value

Item = TypeVar("Item")
# The default of a key whose absence says something: it is not among the checked settings.
ABSENT: Any = None


class Section(BaseModel):
    """A section of settings. A section or list of names that is left empty counts as not given.

    Declare a key as ``name: type = Field(default, description=...)``, with limits in `Field`.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, regex_engine="python-re")

    @model_validator(mode="before")
    @classmethod
    def _drop_empty(cls, given: Any) -> Any:
        if given is None and not any(key.is_required() for key in cls.model_fields.values()):
            return {}
        if not isinstance(given, dict):
            return given
        return {
            key: value for key, value in given.items() if value is not None or _is_told(cls, key)
        }


class Rule(Section):
    """A section that states at least one key, and leaves out the rest."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    @model_validator(mode="after")
    def _refuse_nothing(self) -> "Rule":
        if not self.model_fields_set:
            keys = list_choices(type(self).model_fields)
            raise ValueError(f"must not be empty. Expected a section with {keys}.")
        return self


def _is_told(section: type[Section], key: str) -> bool:
    """Whether a key without a value is a mistake."""
    field = section.model_fields.get(key)
    if field is None or field.is_required():
        return field is None
    return not isinstance(field.get_default(call_default_factory=True), dict | Section)


def _keep_spelling(value: Any, check: Callable[[Any], float]) -> Any:
    """Check a number, and let 1 be the whole number that it is."""
    check(value)
    return value


def _take_whole(value: Any) -> Any:
    """Take a whole number that is written 1.0e+4."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _refuse_twice(items: list[Item]) -> list[Item]:
    for index, item in enumerate(items):
        if item in items[:index]:
            raise ValueError(f"{show_value(item)} is listed twice. Keep one of them.")
    return items


Flag = Annotated[bool, Strict()]
# Limits stand before the validators, so that the JSON schema has them.
Number = Annotated[float, Strict(), WrapValidator(_keep_spelling)]
AtLeastZero = Annotated[float, Strict(), Field(ge=0), WrapValidator(_keep_spelling)]
Positive = Annotated[float, Strict(), Field(gt=0), WrapValidator(_keep_spelling)]
Share = Annotated[float, Strict(), Field(gt=0, lt=1), WrapValidator(_keep_spelling)]
Inches = Annotated[float, Strict(), Field(gt=0, le=50), WrapValidator(_keep_spelling)]
Points = Annotated[float, Strict(), Field(ge=3, le=40), WrapValidator(_keep_spelling)]
Whole = Annotated[int, Strict(), BeforeValidator(_take_whole)]
Count = Annotated[int, Strict(), Field(ge=1), BeforeValidator(_take_whole)]
Seed = Annotated[int, Strict(), Field(ge=0), BeforeValidator(_take_whole)]
Dimension = Annotated[int, Strict(), Field(ge=1, le=50), BeforeValidator(_take_whole)]
Name = Annotated[str, Field(min_length=1, description="A name has a letter at least.")]
# Of a file or folder, or a pattern of some.
FilePath = Annotated[str, AfterValidator(expand_home)]
GivenPath = Annotated[str, Field(min_length=1), AfterValidator(expand_home)]
Unique = Annotated[
    list[Item], AfterValidator(_refuse_twice), Field(json_schema_extra={"uniqueItems": True})
]
# A cell of a table, as it is compared.
Scalar: TypeAlias = str | Number | Flag
