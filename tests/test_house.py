"""Bars on the size and order of the house: each holds what is reached, and comes down with the next cut."""

import ast
from importlib import import_module
from pkgutil import iter_modules

import pytest

import tools
from tools import house


@pytest.fixture(scope="module")
def sources() -> list[house.Source]:
    """The product's modules, read once, and not where tests are only collected."""
    return house.sources()


def test_no_file_and_no_function_outgrows_its_reader(sources: list[house.Source]) -> None:
    longest = max(house.lines(sources).items(), key=lambda item: item[1])
    assert longest[1] <= 450, longest
    assert house.longest_function(sources)[0] <= 60, house.longest_function(sources)


def test_the_house_does_not_grow(sources: list[house.Source]) -> None:
    assert sum(house.lines(sources).values()) <= 75_000


def test_names_types_and_formats_are_known_in_few_places(sources: list[house.Source]) -> None:
    assert len(house.shared_class_names(sources)) <= 15
    assert house.loose_dicts(sources) <= 134
    assert len(house.modules_that_name_a_format(sources)) <= 11
    assert len(house.riddles(sources)) == 0


def test_no_module_gives_one_name_to_two_things(sources: list[house.Source]) -> None:
    for source in sources:
        names = [
            t.id for n in source.tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)
        ]
        named = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
        names += [n.name for n in source.tree.body if isinstance(n, named)]
        assert len(names) == len(set(names)), (source.path, [name for name in names if names.count(name) > 1])


def test_every_tool_of_a_clone_loads() -> None:
    for found in iter_modules(tools.__path__, "tools."):
        assert import_module(found.name).__doc__, f"{found.name} does not say what it is"
