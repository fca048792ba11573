"""Constraints on a server's reply: the ways to ask for a pattern, from the best to none, with their spellings.

Servers agree on OpenAI's protocol and on nothing beyond it, so a way has several spellings. Which one a server honours
is found out by asking it (`rollout.servers.capability`), never by its name.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from critics.problem import is_object
from rollout.decoding.automaton import Pattern
from rollout.servers.expression import grammar, regex, words_of

RequestFields: TypeAlias = Mapping[str, object]
"""Fields of a request's JSON body."""
Way: TypeAlias = Literal["guide", "grammar", "choice", "json", "allowed_token_ids", "logit_bias", "rejection"]
WAYS: tuple[Way, ...] = get_args(Way)
"""From the best to the last resort."""
TOKEN_WAYS: frozenset[Way] = frozenset({"allowed_token_ids", "logit_bias"})
"""Ways that constrain one token at a time, as LogicGuide's paper does in its appendix D."""
MOST_BIASED = 300
"""As many tokens as OpenAI's API takes in one `logit_bias`; where more are allowed, one token is not asked for."""
_MOST_WORDS = 500
_BIAS = 100.0
"""The largest bias that the protocol knows: it leaves only the tokens that have it. A float, because
`transformers serve` fails at an integer; elsewhere they are the same."""


class NotExpressible(Exception):  # noqa: N818
    """This way cannot say this pattern."""


@dataclass(frozen=True, slots=True)
class FieldSpelling:
    """One spelling of a way: the fields that it adds to a request, and how its reply is read."""

    name: str
    fields: Callable[[Pattern], RequestFields]
    read: Callable[[str], str] = str
    """From the reply's text to the constrained text; raises `ValueError`."""
    going_on: Callable[[Pattern], RequestFields] | None = None
    """The fields that hold only the reply's beginning; None where a whole reply is held, and nothing follows it.

    A reply that has to end where its block ends keeps out each token in which the two meet, and a model that is used to
    such tokens goes astray."""


@dataclass(frozen=True, slots=True)
class GuideSpelling:
    """The field in which a server with this project's plug-in is sent a guide (`rollout.engines.wire`)."""

    name: str
    fields: Callable[[str], RequestFields]


GUIDE_SPELLINGS = (
    GuideSpelling("structured_outputs.grammar", lambda spec: {"structured_outputs": {"grammar": spec}}),
    GuideSpelling("ebnf", lambda spec: {"ebnf": spec}),
)
"""vLLM, SGLang."""


def _open_ended(name: str, fields: Callable[[str], RequestFields]) -> FieldSpelling:
    return FieldSpelling(name, lambda p: fields(regex(p)), going_on=lambda p: fields(f"{regex(p)}(.|\\n)*"))


def _words(pattern: Pattern) -> list[str]:
    words = words_of(pattern, _MOST_WORDS)
    if words is None:
        raise NotExpressible
    return [word.decode() for word in words]


def _schema(pattern: Pattern) -> RequestFields:
    """Return the schema of an object with the text in it: strict modes take nothing but objects at the top."""
    words = words_of(pattern, _MOST_WORDS)
    text = {"enum": [word.decode() for word in words]} if words is not None else {"pattern": f"^({regex(pattern)})$"}
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string", **text}},
        "required": ["text"],
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": "block", "strict": True, "schema": schema}}


def _text_of(reply: str) -> str:
    data: object = json.loads(reply)
    text = data.get("text") if is_object(data) else None
    if not isinstance(text, str):
        raise ValueError("the reply is not an object with a text")  # noqa: TRY004
    return text


SPELLINGS: dict[Way, tuple[FieldSpelling, ...]] = {
    "grammar": (
        _open_ended("structured_outputs.regex", lambda text: {"structured_outputs": {"regex": text}}),
        _open_ended("regex", lambda text: {"regex": text}),
        _open_ended("guided_regex", lambda text: {"guided_regex": text}),
        FieldSpelling(
            "grammar", lambda p: {"grammar": grammar(p)}, going_on=lambda p: {"grammar": grammar(p, goes_on=True)}
        ),
    ),
    "choice": (
        FieldSpelling("structured_outputs.choice", lambda p: {"structured_outputs": {"choice": _words(p)}}),
        FieldSpelling("guided_choice", lambda p: {"guided_choice": _words(p)}),
    ),
    "json": (FieldSpelling("response_format", lambda p: {"response_format": _schema(p)}, _text_of),),
}
"""vLLM (new, old), SGLang (`regex`), llama.cpp (`grammar`); `response_format` is OpenAI's own."""


def token_fields(way: Way, ids: list[int]) -> RequestFields:
    """Return the fields that leave nothing but these tokens."""
    if way == "allowed_token_ids":
        return {"allowed_token_ids": ids}
    return {"logit_bias": {str(token_id): _BIAS for token_id in ids}}
