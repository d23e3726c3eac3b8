"""Bokeh's defaults, worked out once for each class of models: Bokeh does so again and again.

What a property is that nobody has set depends on the model's class alone, unless it is made anew
for each model ("unstable") or a theme says otherwise. Yet Bokeh gathers a class' defaults from all
its bases, copies one and checks it each time it is asked; and to write a model down it asks for all
of them, only to leave them out. That was most of the time that a document takes. What is replaced
belongs to the pinned version of Bokeh.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cache
from typing import Any

from bokeh.core.has_props import HasProps
from bokeh.core.property.descriptors import PropertyDescriptor
from bokeh.core.property.singletons import Undefined
from bokeh.core.property.vectorization import Field, Value

_CHANGEABLE = (list, dict, set, Field, Value)
_theirs = PropertyDescriptor._get_default
_query = HasProps.query_properties_with_values
_overridden = cache(HasProps._overridden_defaults.__func__)  # type: ignore[attr-defined]


def remember() -> None:
    """From now on, in this process."""
    PropertyDescriptor._get_default = _get_default  # type: ignore[method-assign]
    PropertyDescriptor.has_unstable_default = _has_unstable_default  # type: ignore[method-assign]
    HasProps.query_properties_with_values = _query_set  # type: ignore[method-assign]
    HasProps.themed_values = _themed_values  # type: ignore[method-assign]
    HasProps._overridden_defaults = classmethod(_overridden)  # type: ignore[assignment,arg-type]


def _get_default(self: PropertyDescriptor[Any], obj: HasProps) -> Any:
    stable = _stable(type(obj))
    if self.name in stable and obj.themed_values() is None:
        default = stable[self.name]
        return copy(default) if isinstance(default, _CHANGEABLE) else default
    return _theirs(self, obj)


def _has_unstable_default(self: PropertyDescriptor[Any], obj: HasProps) -> bool:
    return self.name not in _stable(type(obj))


def _themed_values(self: HasProps) -> dict[str, Any] | None:
    """Theirs looks for a like name among the model's properties, since there is mostly none."""
    return vars(self).get("__themed_values__")


def _query_set(
    self: HasProps,
    query: Callable[[PropertyDescriptor[Any]], bool],
    *,
    include_defaults: bool = True,
    include_undefined: bool = False,
) -> dict[str, Any]:
    """Looks only at what can be in the answer, or should have been set and was not."""
    held = {*self._property_values, *self._unstable_default_values, *_required(type(self))}
    all_of_them = include_defaults or self.themed_values() is not None
    return _query(
        self,
        lambda descriptor: (all_of_them or descriptor.name in held) and query(descriptor),
        include_defaults=include_defaults,
        include_undefined=include_undefined,
    )


@cache
def _stable(of: type[HasProps]) -> dict[str, Any]:
    """The defaults that are the same for every model of this class."""
    overridden = of._overridden_defaults()
    return {
        name: of.lookup(name).class_default(of)
        for name in of.properties()
        if not of.lookup(name).property._may_have_unstable_default()
        and not PropertyDescriptor.is_unstable(overridden.get(name))
    }


@cache
def _required(of: type[HasProps]) -> list[str]:
    return [name for name, default in _stable(of).items() if default is Undefined]
